import type { Store } from '../store/port.ts';
import { describeStore } from '../store/store.contract.ts';
import type { PackedLimits } from './limits.ts';
import { MediumData } from './testing/memory-medium.ts';
import type { PackedStoreOptions } from './packed-store.ts';
import { openPacked, SMALL } from './testing/packed-kit.ts';

const opening =
  (limits: Partial<PackedLimits>, more: Partial<PackedStoreOptions> = {}) =>
  (databases = new Map<string, MediumData>()) =>
  async (name: string): Promise<Store> => {
    const data = databases.get(name) ?? new MediumData();
    databases.set(name, data);
    return openPacked(data, limits, more);
  };

describeStore('PackedStore', opening({})());
describeStore('PackedStore that flushes and merges all the time', opening(SMALL)());
describeStore('PackedStore that caches nothing', opening(SMALL, { cacheBytesMax: 0 })());
