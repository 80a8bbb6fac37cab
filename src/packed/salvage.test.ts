import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { RandomSource, seedOf } from '../engine/testing/random-source.ts';
import type { Refusal } from '../errors.ts';
import type { Row } from '../store/port.ts';
import { at, everything, fixed, put, row, sequence, write } from '../store/testing/store-rows.ts';
import { PART_BYTES_MAX } from './codec/log-parts.ts';
import type { PackedLimits } from './limits.ts';
import type { PackedStore } from './packed-store.ts';
import { MediumData } from './testing/memory-medium.ts';
import { openPacked, SMALL } from './testing/packed-kit.ts';
import { salvaged } from './testing/salvaged.ts';

const SEED = seedOf('BURROW_SEED');

const rows = (count: number, value: string): Row[] =>
  sequence(count).map((i) => ({ ...row(fixed(i)), value: value + fixed(i) }));

async function changedOften(seed: number): Promise<{ store: PackedStore; data: MediumData }> {
  const random = new RandomSource(seed);
  const data = new MediumData();
  const store = await openPacked(data, SMALL);
  for (const round of sequence(12)) {
    const some = rows(80, `round ${round} `).filter(() => random.chance(0.3));
    await put(store, random.chance(0.8) ? 'documents' : 'history', some);
    if (random.chance(0.2)) await write(store, { puts: [], deletes: [at(fixed(round))] });
    if (random.chance(0.3)) await store.flush();
  }
  await store.whenIdle();
  return { store, data };
}

test(`salvage() returns all rows of an undamaged store, from seed ${SEED}`, async () => {
  for (let seed = SEED; seed < SEED + 8; seed += 1) {
    const { store, data } = await changedOften(seed);
    const { documents, history } = await everything(store);
    const saved = await salvaged(data);
    expect(saved.damaged, `seed ${seed}`).toEqual([]);
    expect(saved.rows('documents'), `seed ${seed}`).toEqual(documents);
    expect(saved.rows('history'), `seed ${seed}`).toEqual(history);
  }
});

/** A store with these rows in blocks. */
async function flushed(
  some: readonly Row[],
  limits?: Partial<PackedLimits>,
): Promise<{ store: PackedStore; data: MediumData }> {
  const data = new MediumData();
  const store = await openPacked(data, limits);
  await put(store, 'documents', some);
  await store.flush();
  return { store, data };
}

const EMPTY = new Uint8Array();

const DAMAGES = {
  'a changed bit of a block': ({ blocks }, id) => {
    const bytes = (blocks.get(id) ?? EMPTY).slice();
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 4;
    blocks.set(id, bytes);
  },
  'a block that is cut off': ({ blocks }, id) =>
    blocks.set(id, (blocks.get(id) ?? EMPTY).slice(0, 9)),
  'an empty block': ({ blocks }, id) => blocks.set(id, EMPTY),
  'a missing block': ({ blocks }, id) => blocks.delete(id),
  'a log without its beginning': ({ log }) => log.shift(),
  'an empty part of the log': ({ log }) => (log[0] = { number: log[0]?.number ?? 1, bytes: EMPTY }),
  'a missing log': (data) => (data.log = []),
} satisfies Record<string, (data: MediumData, id: number) => unknown>;

test.each(Object.entries(DAMAGES))(
  `salvage(), and open() or verify(), report %s unless no row is lost, from seed ${SEED}`,
  async (_, damage) => {
    for (let seed = SEED; seed < SEED + 8; seed += 1) {
      const { store, data } = await changedOften(seed);
      await store.flush();
      await put(store, 'documents', rows(3, 'in the log '));
      const before = await everything(store);
      damage(data, new RandomSource(seed).pick([...data.blocks.keys()]));
      // Sorts the ids again, so that deleted blocks are noticed.
      data.putBlocks([]);
      const saved = await salvaged(data);
      const brought = { documents: saved.rows('documents'), history: saved.rows('history') };
      const { documents, history } = before;
      const isWhole = isDeepStrictEqual(brought, { documents, history });
      expect(isWhole || saved.damaged.length > 0, `seed ${seed}`).toBe(true);
      const found = await openPacked(data, SMALL).then(
        async (again) =>
          (await again.verify()).length > 0 || isDeepStrictEqual(await everything(again), before),
        ({ code }: Refusal) => code === 'local_data_loss',
      );
      expect(found, `seed ${seed}`).toBe(true);
    }
  },
);

test(`salvage() without a manifest returns each row once, from seed ${SEED}`, async () => {
  for (let seed = SEED; seed < SEED + 8; seed += 1) {
    const { store, data } = await changedOften(seed);
    await store.flush();
    const keys = (await everything(store)).documents.map(({ key }) => key);
    data.log = [];
    const saved = await salvaged(data);
    const found = saved.rows('documents').map(({ key }) => key);
    expect(saved.damaged, `seed ${seed}`).toEqual(['log record 1']);
    expect(found, `seed ${seed}`).toEqual([...new Set(found)].sort());
    expect(found, `seed ${seed}`).toEqual(expect.arrayContaining(keys));
  }
});

test('salvage() does not trust a manifest if a later one may be lost', async () => {
  const { data, store } = await flushed(rows(10, 'old '));
  const { log } = data;
  await put(store, 'documents', rows(20, 'new '));
  await store.flush();
  // The log has the previous flip, and the last flip is damaged.
  const last = data.log.at(-1) ?? { number: 0, bytes: new Uint8Array() };
  data.log = [...log, ...data.log.filter(({ number }) => number > (log.at(-1)?.number ?? 0))];
  data.log = data.log.map((part) =>
    part.number === last.number ? { ...part, bytes: new Uint8Array(9) } : part,
  );
  const saved = await salvaged(data);
  expect(saved.damaged).toContain(`log record ${last.number}`);
  expect(saved.rows('documents').map(({ value }) => value)).toEqual(
    rows(20, 'new ').map(({ value }) => value),
  );
});

test('salvage() does not trust a manifest if the last part of a later one is missing', async () => {
  const { data, store } = await flushed(rows(10, 'old '));
  const before = data.log.at(-1);
  // The manifest contains the bounds of each table, so a long key makes a long flip record.
  const long = { ...row('k'.repeat(PART_BYTES_MAX)), value: 'new' };
  await put(store, 'documents', [long]);
  await store.flush();
  const last = data.log.pop()?.number ?? 0;
  // Like a merge that flipped to the previous manifest during the flush.
  const first = data.log[0]?.number ?? 0;
  data.log.unshift({ number: first - 1, bytes: before?.bytes });
  await expect(openPacked(data)).rejects.toMatchObject({ code: 'local_data_loss' });
  const saved = await salvaged(data);
  expect(saved.damaged).toEqual([`log record ${last}`]);
  expect(saved.rows('documents')).toContainEqual(long);
});

test('salvage() names a record with a damaged part only once', async () => {
  const data = new MediumData();
  const store = await openPacked(data);
  await put(store, 'documents', [{ ...row(fixed(1)), value: 'v'.repeat(2 * PART_BYTES_MAX) }]);
  expect(data.log).toHaveLength(3);
  data.log = data.log.map((part) =>
    part.number === 2 ? { number: 2, bytes: new Uint8Array() } : part,
  );
  expect((await salvaged(data)).damaged).toEqual(['log record 2']);
});

test('salvage() does not join parts of two records', async () => {
  const data = new MediumData();
  const store = await openPacked(data);
  const long = ['a', 'b'].map((of, i): Row => {
    return { ...row(fixed(i)), value: of.repeat(PART_BYTES_MAX + 1000) };
  });
  for (const each of long) await put(store, 'documents', [each]);
  expect(data.log).toHaveLength(4);
  data.log = data.log.filter(({ number }) => number === 1 || number === 4);
  const saved = await salvaged(data);
  expect(saved.rows('documents')).toHaveLength(0);
  expect(saved.damaged).toEqual(['log record 3']);
});

test('salvage() names a missing record between the tables and the log', async () => {
  const { data, store } = await flushed(rows(10, 'old '));
  await write(store, { puts: [], deletes: [at(fixed(7))] });
  await store.flush();
  const missing = data.log.shift()?.number ?? 0;
  await expect(openPacked(data)).rejects.toMatchObject({ code: 'local_data_loss' });
  const saved = await salvaged(data);
  expect(saved.damaged).toEqual([`log record ${missing}`]);
  expect(saved.rows('documents')).toHaveLength(9);
});

test('salvage() names missing blocks', async () => {
  const { data } = await flushed(rows(50, 'v'), { ...SMALL, partBytes: 1000 });
  const [first = 0] = [...data.blocks.keys()].sort((a, b) => a - b);
  data.blocks.delete(first);
  const saved = await salvaged(data);
  expect(saved.damaged).toEqual([`block ${first}`]);
  expect(saved.rows('documents').length).toBeLessThan(50);
});

test('salvage() names an empty block, and does not join it to the next', async () => {
  const { data } = await flushed(rows(50, 'v'), { ...SMALL, partBytes: 1000 });
  const [first = 0] = [...data.blocks.keys()].sort((a, b) => a - b);
  data.blocks.set(first, new Uint8Array());
  const saved = await salvaged(data);
  expect(saved.damaged).toEqual([`block ${first}`]);
  expect(saved.rows('documents').length).toBeLessThan(50);
});

test('salvage() without a manifest names damaged blocks, also the last', async () => {
  const { data } = await flushed(rows(100, 'v'), { ...SMALL, partBytes: 1000 });
  const ids = [...data.blocks.keys()].sort((a, b) => a - b);
  const damaged = [ids[0] ?? 0, ids[5] ?? 0, ids.at(-1) ?? 0];
  for (const id of damaged) DAMAGES['a block that is cut off'](data, id);
  data.log = [];
  const saved = await salvaged(data);
  const named = ['log record 1', ...damaged.map((id) => `block ${id}`)];
  expect(saved.damaged.toSorted()).toEqual(named.toSorted());
});

test('salvage() omits rows that a later record or block deletes', async () => {
  const { data, store } = await flushed(rows(50, 'v'), { ...SMALL, runsPerLevel: 100 });
  await write(store, { puts: [], deletes: [at(fixed(7))] });
  await store.flush();
  await write(store, { puts: [], deletes: [at(fixed(8))] });
  const keys = (await salvaged(data)).rows('documents').map(({ key }) => key);
  expect(keys).toHaveLength(48);
  expect(keys).not.toContain(fixed(7));
  expect(keys).not.toContain(fixed(8));
});

test('salvage() applies the log to many blocks, in whatever order it changed their rows', async () => {
  const { data, store } = await flushed(rows(500, 'v'), { ...SMALL, runsPerLevel: 100 });
  await write(store, { puts: [], deletes: [at(fixed(490))] });
  await write(store, { puts: [], deletes: [at(fixed(7))] });
  const keys = (await salvaged(data)).rows('documents').map(({ key }) => key);
  expect(keys).toEqual(
    sequence(500)
      .filter((i) => i !== 7 && i !== 490)
      .map(fixed),
  );
});

test('salvage() returns rows in batches of at most a few blocks of each run', async () => {
  const data = new MediumData();
  const store = await openPacked(data, { ...SMALL, runsPerLevel: 100 });
  for (const round of sequence(3)) {
    await put(store, 'documents', rows(2000, `round ${round} `));
    await store.flush();
  }
  await put(store, 'documents', rows(2000, 'in the log '));
  const { batches } = await salvaged(data);
  expect(batches.flatMap((batch) => batch.rows)).toHaveLength(2000);
  expect(Math.max(...batches.map((batch) => batch.rows.length))).toBeLessThan(100);
});

test('salvage() restores large rows next to a damaged part', async () => {
  const data = new MediumData();
  const store = await openPacked(data, SMALL);
  const long = sequence(3).map((i): Row => ({ ...row(fixed(i)), value: 'x'.repeat(500) }));
  await put(store, 'files', long);
  await store.flush();
  const ids = [...data.blocks.keys()].sort((a, b) => a - b);
  const parts = ids.filter((id) => data.blocks.get(id)?.length === SMALL.partBytes);
  data.blocks.set(parts[2] ?? 0, new Uint8Array(SMALL.partBytes));
  const saved = await salvaged(data);
  expect(saved.rows('files').map(({ key }) => key)).toEqual([fixed(1), fixed(2)]);
  expect(saved.damaged.length).toBeGreaterThan(0);
});
