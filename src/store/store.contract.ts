/** Tests for every store, whatever database it uses. Call `describeStore` from a test file of the host. */
import { afterEach, describe } from 'vitest';
import type { Store } from './port.ts';
import {
  isAtomic,
  isolates,
  takesLargeThings,
  worksBesideOthers,
} from './store-commits.contract.ts';
import { behavesLikeAModel } from './store-model.contract.ts';
import { boundsBytes, keepsEntries, ordersKeys, readsRanges } from './store-ranges.contract.ts';
import type { OpenStore } from './testing/store-rows.ts';

export function describeStore(name: string, open: OpenStore): void {
  describe(`${name} as a store`, () => {
    const opened: Store[] = [];
    let databases = 0;
    const another = async (database: string): Promise<Store> => {
      const store = await open(database);
      opened.push(store);
      return store;
    };
    const fresh = async (): Promise<Store> => another(freshName());
    const freshName = (): string => `contract-${Date.now().toString(36)}-${(databases += 1)}`;
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((store) => store.close()));
    });

    ordersKeys(fresh);
    readsRanges(fresh);
    keepsEntries(fresh);
    boundsBytes(fresh);
    isolates(fresh);
    isAtomic(fresh);
    takesLargeThings(fresh);
    worksBesideOthers(another, freshName);
    behavesLikeAModel(fresh);
  });
}
