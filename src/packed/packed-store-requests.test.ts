/** The cost of reads in calls of the medium. The tests count calls, because times depend on the machine. */
import { expect, test } from 'vitest';
import { keyOfBytes, termsPrefix, type Key } from '../codec/key.ts';
import { prefixRange } from '../codec/ranges.ts';
import type { Found, ReadTx, Row } from '../store/port.ts';
import {
  at,
  everything,
  fixed,
  inRange,
  put,
  rangeOf,
  row,
  sequence,
} from '../store/testing/store-rows.ts';
import { PACKED_LIMITS, type PackedLimits } from './limits.ts';
import type { PackedMemory, PackedStore, PackedStoreOptions } from './packed-store.ts';
import { CountingMedium } from './testing/counting-medium.ts';
import { createMemoryMedium, MediumData } from './testing/memory-medium.ts';
import { openPacked } from './testing/packed-kit.ts';

/** Several rows fit into a block. In the order of their entries, rows are scattered over all blocks. */
const rows = (count: number, value = 'v'): Row[] =>
  sequence(count).map((i) => ({
    ...row(fixed(i), [`e${fixed((i * 7919) % count)}`]),
    value: value + fixed(i),
  }));

const SMALL_BLOCKS: Partial<PackedLimits> = { rowBlockBytes: 400, blockBytes: 800 };

async function opened(
  data: MediumData,
  more: Partial<PackedStoreOptions> = {},
): Promise<{ readonly store: PackedStore; readonly medium: CountingMedium }> {
  const medium = new CountingMedium(createMemoryMedium(data));
  const options = { medium, leaseTerm: () => 1, ...more };
  const store = await openPacked(data, SMALL_BLOCKS, options);
  return { store, medium };
}

test('flushed rows are read from memory, without a request', async () => {
  const { store, medium } = await opened(new MediumData());
  await put(store, 'documents', rows(1000));
  await store.flush();
  medium.take();
  const { documents } = await everything(store);
  expect(documents).toHaveLength(1000);
  expect(medium.take()).toMatchObject({ reads: 0, ranges: 0 });
});

test('blocks that are cached before a merge are cached after it', async () => {
  const { store, medium } = await opened(new MediumData());
  for (const round of sequence(4)) {
    await put(store, 'documents', rows(300, `round ${round} `));
    await store.flush();
  }
  expect(store.manifest.families[0]).toHaveLength(1);
  medium.take();
  expect((await everything(store)).documents).toHaveLength(300);
  expect(medium.take()).toMatchObject({ reads: 0 });
});

test('of tables that a merge has replaced nothing stays in memory', async () => {
  const { store } = await opened(new MediumData());
  const flushed = async (round: number): Promise<PackedMemory> => {
    await put(store, 'documents', rows(300, `round ${round} `));
    await store.flush();
    return store.memory;
  };
  const one = await flushed(0);
  for (const round of [1, 2, 3]) await flushed(round);
  expect(store.manifest.families[0]).toHaveLength(1);
  expect(store.memory.blocks).toBeLessThan(1.1 * one.blocks);
  expect(store.memory.indexes).toBeLessThan(1.1 * one.indexes);
});

test('a merge does not cache blocks that no query has read', async () => {
  const data = new MediumData();
  const filling = await openPacked(data, { ...SMALL_BLOCKS, runsPerLevel: 100 });
  for (const round of sequence(4)) {
    await put(filling, 'documents', rows(300, `round ${round} `));
    await filling.flush();
  }
  const { store } = await opened(data);
  await put(store, 'meta', [row('one more')]);
  await store.flush();
  expect(store.manifest.families[0]).toHaveLength(1);
  expect(store.memory.blocks).toBeLessThan(300);
});

test('a page of scattered rows takes two reads, and each block is read once', async () => {
  const data = new MediumData();
  const filling = await openPacked(data, SMALL_BLOCKS);
  await put(filling, 'documents', rows(1000));
  await filling.flush();
  const { store, medium } = await opened(data);
  medium.take();
  const page = await inRange(store, {
    by: 'entry',
    lower: keyOfBytes(`e${fixed(500)}`),
    limit: 64,
  });
  expect(page).toHaveLength(64);
  const counts = medium.take();
  expect(counts.reads).toBe(2);
  expect(counts.ranges).toBeLessThanOrEqual(66);
  expect(counts.blocks).toBeLessThanOrEqual(70);
});

test('adjacent rows are read with one request', async () => {
  const data = new MediumData();
  const filling = await openPacked(data, SMALL_BLOCKS);
  await put(filling, 'documents', rows(1000));
  await filling.flush();
  const { store, medium } = await opened(data);
  medium.take();
  const addresses = sequence(200).map((i) => at(fixed(300 + i)));
  await store.read((tx) => tx.fetch(addresses, []));
  const counts = medium.take();
  expect(counts).toMatchObject({ reads: 1, ranges: 1 });
  expect(counts.blocks).toBeGreaterThan(10);
});

test('requests are limited in size, and small adjacent rows share one', async () => {
  const data = new MediumData();
  const filling = await openPacked(data);
  const large = 1024 * 1024;
  await put(filling, 'documents', rows(40, 'x'.repeat(large / 100)));
  await put(filling, 'documents', [{ ...row('large'), value: 'x'.repeat(large) }]);
  await filling.flush();
  const { store, medium } = await opened(data);
  medium.take();
  const addresses = sequence(40).map((i) => at(fixed(i)));
  await store.read((tx) => tx.fetch([...addresses, at('large')], []));
  const { ranges, rangeBytesMax } = medium.take();
  expect(rangeBytesMax).toBeLessThanOrEqual(PACKED_LIMITS.rangeBytes);
  expect(ranges).toBeLessThan(30);
});

/** The terms of an entry in a unique index. */
const termed = (i: number): Key => termsPrefix(0, 1, [`name ${fixed(i)}`]);

test('looking for absent terms rarely makes a request', async () => {
  const data = new MediumData();
  const filling = await openPacked(data, { ...SMALL_BLOCKS, runsPerLevel: 100 });
  for (const round of sequence(3)) {
    const rowsOfRound = sequence(400).map((i) =>
      row(fixed(i * 3 + round), [termed(i * 6 + round)]),
    );
    await put(filling, 'documents', rowsOfRound);
    await filling.flush();
  }
  expect(filling.manifest.families[1]).toHaveLength(3);
  const { store, medium } = await opened(data, { cacheBytesMax: 0 });
  medium.take();
  for (const i of sequence(400)) {
    const range = { by: 'entry', ...prefixRange(termed(i * 6 + 3)) } as const;
    expect(await inRange(store, range)).toEqual([]);
  }
  // Each filter lets about one absent key in a hundred pass.
  expect(medium.take().reads).toBeLessThan(40);
  expect(await inRange(store, { by: 'entry', ...prefixRange(termed(607)) })).toHaveLength(1);
  // The filters of the other two runs exclude the terms. So only a block of entries and the row's block are read.
  expect(medium.take().ranges).toBeLessThanOrEqual(3);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function filled(count: number): Promise<MediumData> {
  const data = new MediumData();
  const filling = await openPacked(data, SMALL_BLOCKS);
  await put(filling, 'documents', rows(count));
  await filling.flush();
  return data;
}

test('warm() loads all blocks with few requests, and later pages need none', async () => {
  const { store, medium } = await opened(await filled(3000));
  medium.take();
  await store.warm({ idle: turn });
  // One read for the entries, one for the documents.
  expect(medium.take()).toMatchObject({ reads: 2, ranges: 2 });
  const page = { by: 'entry', lower: keyOfBytes(`e${fixed(500)}`), limit: 64 } as const;
  expect(await inRange(store, page)).toHaveLength(64);
  expect((await everything(store)).documents).toHaveLength(1000);
  expect(medium.take()).toMatchObject({ reads: 0 });
  await store.warm({ idle: turn });
  expect(medium.take()).toMatchObject({ reads: 0 });
});

test('warm() stops at its limit of bytes, and evicts no blocks', async () => {
  const data = await filled(3000);
  const bound = await opened(data);
  await bound.store.warm({ idle: turn, bytesMax: 50_000 });
  expect(bound.store.memory.blocks).toBeGreaterThan(25_000);
  expect(bound.store.memory.blocks).toBeLessThan(60_000);
  const small = await opened(data, { cacheBytesMax: 40_000 });
  await inRange(small.store, { limit: 5 });
  await small.store.warm({ idle: turn });
  expect(small.store.memory.blocks).toBeLessThanOrEqual(40_000);
  small.medium.take();
  await inRange(small.store, { limit: 5 });
  expect(small.medium.take()).toMatchObject({ reads: 0 });
});

test('warm() with a limit loads the first rows by key and the last rows written', async () => {
  const data = new MediumData();
  const filling = await openPacked(data);
  const large = rows(3000, 'v'.repeat(2000));
  for (const at of [0, 1000, 2000]) {
    await put(filling, 'documents', large.slice(at, at + 1000));
    await filling.flush();
  }
  await filling.close();
  const medium = new CountingMedium(createMemoryMedium(data));
  const store = await openPacked(data, {}, { medium, leaseTerm: () => 1 });
  await store.warm({ idle: turn, bytesMax: 3_000_000 });
  medium.take();
  await store.read((tx) => tx.fetch([at(fixed(0)), at(fixed(200)), at(fixed(2200))], []));
  expect(medium.take()).toMatchObject({ reads: 0 });
  await store.read((tx) => tx.fetch([at(fixed(1500))], []));
  expect(medium.take()).toMatchObject({ reads: 1 });
  await store.close();
});

test('warm() waits for readers, and ends when it is stopped', async () => {
  const { store, medium } = await opened(await filled(1000));
  let isStopped = false;
  let warming = Promise.resolve();
  await store.read(async (tx) => {
    await tx.fetch([at(fixed(1))], []);
    medium.take();
    warming = store.warm({ idle: turn, isStopped: () => isStopped });
    await turn();
    await turn();
    await turn();
    expect(medium.take()).toMatchObject({ reads: 0 });
    isStopped = true;
  });
  await warming;
  expect(medium.take()).toMatchObject({ reads: 0 });
  await store.warm({ idle: turn });
  expect(medium.take().reads).toBeGreaterThan(0);
});

test('warm() says before each read whether there were queries since the last one', async () => {
  const { store } = await opened(await filled(1000));
  const busy: boolean[] = [];
  await store.warm({
    idle: async (isBusy) => {
      busy.push(isBusy);
      if (busy.length < 3) await store.read((tx) => tx.fetch([at(fixed(1))], []));
    },
  });
  expect(busy.slice(0, 4)).toEqual([false, true, true, false]);
});

test('warm() of a closed store reads nothing', async () => {
  const { store, medium } = await opened(await filled(1000));
  medium.take();
  const warming = store.warm({ idle: turn });
  await store.close();
  await warming;
  expect(medium.take()).toMatchObject({ reads: 0 });
});

test('rows larger than the cache are read once each, a few at a time', async () => {
  const data = new MediumData();
  const store = await openPacked(data);
  const value = 'x'.repeat(3 * 1024 * 1024);
  for (const i of sequence(12))
    await put(store, 'documents', [{ ...row(fixed(i), [`e${fixed(i)}`]), value }]);
  await store.flush();
  await store.close();
  const keys = sequence(12).map((i) => at(fixed(i)));
  const asks: readonly ((tx: ReadTx) => Promise<Found>)[] = [
    (tx) => tx.fetch(keys, []),
    (tx) => tx.fetch(keys, [], 10_000_000),
    (tx) => tx.fetch([], [rangeOf({})]),
    (tx) => tx.fetch([], [rangeOf({ by: 'entry' })]),
  ];
  for (const [i, ask] of asks.entries()) {
    const medium = new CountingMedium(createMemoryMedium(data));
    const cold = await openPacked(data, {}, { medium, leaseTerm: () => 1, cacheBytesMax: 0 });
    medium.take();
    const { rows: found, ranges } = await cold.read(ask);
    const bytes = [...found, ...ranges.flat().map((each) => each.row)].reduce(
      (sum, each) => sum + String(each?.value ?? '').length,
      0,
    );
    expect(bytes).toBe((i === 1 ? 4 : 12) * value.length);
    const counts = medium.take();
    expect(counts.blocks * 56 * 1024).toBeLessThan(1.3 * bytes + 10_000_000);
    expect(counts.reads).toBeGreaterThan(i === 1 ? 0 : 2);
    await cold.close();
  }
});

test('runs of rows larger than the cache are merged', async () => {
  const data = new MediumData();
  const limits = { runsPerLevel: 7 };
  const medium = new CountingMedium(createMemoryMedium(data));
  const store = await openPacked(data, limits, { medium, leaseTerm: () => 1, cacheBytesMax: 0 });
  const value = 'x'.repeat(3 * 1024 * 1024);
  for (const i of sequence(7)) {
    const of = (n: number): Row => ({ ...row(fixed(n)), value });
    await put(store, 'documents', [of(i), of(i + 50)]);
    await store.flush();
  }
  await store.whenIdle();
  expect(store.manifest.families[0].length).toBeLessThan(7);
  // Each block is read once, for the merge.
  expect(medium.take().blocks * 56 * 1024).toBeLessThan(1.2 * 14 * value.length);
  expect(await inRange(store, { limit: 100 })).toHaveLength(14);
  await store.close();
});
