/** Test kit: packed stores over memory. */
import { PackedStore, type PackedStoreOptions } from '../packed-store.ts';
import { PACKED_LIMITS, type PackedLimits } from '../limits.ts';
import { createMemoryMedium, type MediumData } from './memory-medium.ts';

/** Limits so small that a few rows make a table, and a few tables a merge. */
export const SMALL: PackedLimits = {
  ...PACKED_LIMITS,
  memtableBytesMax: 1000,
  commitsMax: 3,
  tableBytes: 600,
  blockBytes: 120,
  rowBlockBytes: 100,
  putBytes: 300,
  partBytes: 90,
  sliceItems: 7,
  runsPerLevel: 2,
};

export async function openPacked(
  data: MediumData,
  limits: Partial<PackedLimits> = {},
  more: Partial<PackedStoreOptions> = {},
): Promise<PackedStore> {
  const store = new PackedStore({
    medium: createMemoryMedium(data),
    limits,
    pause: () => Promise.resolve(),
    onFailure: (reason) => {
      throw reason;
    },
    ...more,
  });
  await store.open();
  return store;
}
