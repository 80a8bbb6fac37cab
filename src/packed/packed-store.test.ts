import type { Store } from '../store/port.ts';
import { describeStore } from '../store/store.contract.ts';
import { PackedStore } from './packed-store.ts';
import { createMemoryMedium, MediumData } from './testing/memory-medium.ts';

const databases = new Map<string, MediumData>();

describeStore('PackedStore', async (name): Promise<Store> => {
  const data = databases.get(name) ?? new MediumData();
  databases.set(name, data);
  const store = new PackedStore({ medium: createMemoryMedium(data) });
  await store.open();
  return store;
});
