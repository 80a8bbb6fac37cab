/** The work between two turns of the event loop. The tests count items, because times depend on the machine. */
import { expect, test } from 'vitest';
import { fixed, put, row, sequence } from '../store/testing/store-rows.ts';
import type { Row } from '../store/port.ts';
import { tablesOf } from './manifest.ts';
import { CountingMedium } from './testing/counting-medium.ts';
import { createMemoryMedium, MediumData } from './testing/memory-medium.ts';
import { openPacked } from './testing/packed-kit.ts';

const SLICE = 100;
const PUT_BYTES = 4000;

test('flushes and merges pause after a number of items, and write blocks in batches of limited size', async () => {
  const data = new MediumData();
  const medium = createMemoryMedium(data);
  let pauses = 0;
  let largest = 0;
  const store = await openPacked(
    data,
    { sliceItems: SLICE, putBytes: PUT_BYTES, rowBlockBytes: 400, blockBytes: 400 },
    {
      pause: async () => {
        pauses += 1;
      },
      medium: {
        ...medium,
        putBlocks: (blocks) => {
          largest = Math.max(
            largest,
            blocks.reduce((sum, { bytes }) => sum + bytes.length, 0),
          );
          return medium.putBlocks(blocks);
        },
      },
    },
  );
  const counted: number[] = [];
  for (const round of sequence(4)) {
    const before = pauses;
    const rows = sequence(2000).map((i) => row(fixed(i), [`e${fixed((i * 7919) % 2000)}`]));
    await put(
      store,
      'documents',
      rows.map((each) => ({ ...each, value: `round ${round}` })),
    );
    await store.flush();
    counted.push(pauses - before);
  }
  const items = 4000;
  for (const count of counted) expect(count).toBeGreaterThanOrEqual(items / SLICE);
  // The last flush makes the fourth run, so the four runs are read and merged into one.
  expect(store.manifest.families[0]).toMatchObject([{ level: 1, isMerging: false }]);
  expect(counted[3]).toBeGreaterThanOrEqual(2 * (items / SLICE));
  // An index or a block may be added on top of the limit.
  expect(largest).toBeLessThan(PUT_BYTES + 8000);
});

test('rows flushed behind a run while it is merged leave it in its merge', async () => {
  const data = new MediumData();
  const limits = {
    memtableBytesMax: 4000,
    tableBytes: 1000,
    rowBlockBytes: 300,
    sliceItems: 10,
    runsPerLevel: 2,
  };
  const long = (count: number, prefix: string): Row[] =>
    sequence(count).map((i) => ({ ...row(prefix + fixed(i)), value: 'x'.repeat(50) }));
  let isAdded = false;
  const store = await openPacked(data, limits, {
    leaseTerm: () => 1,
    pause: async () => {
      if (isAdded || !store.manifest.families[0].some(({ isMerging }) => isMerging)) return;
      isAdded = true;
      await put(store, 'documents', long(100, 'z'));
    },
  });
  for (let round = 0; round < 2; round += 1) {
    await put(store, 'documents', long(200, ''));
    await store.flush();
  }
  expect(isAdded).toBe(true);
  expect(store.manifest.families[0]).toMatchObject([{ isMerging: false }]);
  expect(await store.verify()).toEqual([]);
});

test('a growing store writes at most four bytes for each byte of live data', async () => {
  const data = new MediumData();
  const medium = new CountingMedium(createMemoryMedium(data));
  const limits = {
    memtableBytesMax: 60_000,
    tableBytes: 20_000,
    rowBlockBytes: 1000,
    blockBytes: 2000,
  };
  const store = await openPacked(data, limits, { medium, leaseTerm: () => 1 });
  const total = 10_000;
  for (let begun = 0; begun < total; begun += 100) {
    const rows = sequence(100).map((i) => ({
      ...row(fixed(begun + i), [`e${fixed(((begun + i) * 7919) % total)}`]),
      value: 'x'.repeat(150),
    }));
    await put(store, 'documents', rows);
  }
  await store.flush();
  const live = tablesOf(store.manifest).reduce((sum, { bytes }) => sum + bytes, 0);
  expect(store.manifest.families[0].length).toBeLessThan(4);
  expect(live).toBeGreaterThan(total * 150);
  expect(medium.take().putBytes / live).toBeLessThan(4);
});

test('each of many consecutive writes waits a little, and none waits for a whole merge', async () => {
  const data = new MediumData();
  const limits = {
    memtableBytesMax: 40_000,
    tableBytes: 20_000,
    rowBlockBytes: 1000,
    blockBytes: 1000,
    putBytes: 4000,
    sliceItems: 20,
  };
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
  };
  const store = await openPacked(data, limits, { pause, leaseTerm: () => 1 });
  const total = 20_000;
  let longest = 0;
  let runs = 0;
  for (let begun = 0; begun < total; begun += 50) {
    const rows = sequence(50).map((i) => row(fixed(begun + i), [entryOf(begun + i, total)]));
    const before = pauses;
    await put(store, 'documents', rows);
    longest = Math.max(longest, pauses - before);
    runs = Math.max(runs, store.manifest.families[1].length);
  }
  // All items were flushed once, and most entries were merged, with twenty items per slice.
  expect(pauses).toBeGreaterThan((2 * total) / limits.sliceItems);
  expect(longest).toBeLessThan(60);
  expect(runs).toBeLessThan(40);
});

test('a few changes to many rows that were written in key order do not rewrite all rows', async () => {
  const data = new MediumData();
  const medium = new CountingMedium(createMemoryMedium(data));
  const limits = { memtableBytesMax: 20_000, tableBytes: 10_000, rowBlockBytes: 1000 };
  const store = await openPacked(data, limits, { medium, leaseTerm: () => 1 });
  const rowAt = (i: number) => ({ ...row(fixed(i)), value: 'x'.repeat(200) });
  for (const batch of sequence(60))
    await put(
      store,
      'documents',
      sequence(100).map((i) => rowAt(batch * 100 + i)),
    );
  await store.flush();
  const live = tablesOf(store.manifest).reduce((sum, { bytes }) => sum + bytes, 0);
  medium.take();
  for (const round of sequence(8)) {
    await put(
      store,
      'documents',
      sequence(30).map((i) => rowAt(i * 200 + round)),
    );
    await store.flush();
  }
  expect(medium.take().putBytes).toBeLessThan(live / 4);
});

/** An entry key. The entries of adjacent rows are far apart. */
const entryOf = (i: number, total: number): string => `e${fixed((i * 7919) % total)}`;
