import { expect, test } from 'vitest';
import { keyOfBytes } from '../codec/key.ts';
import { Refusal } from '../errors.ts';
import type { ReadTx, Row } from '../store/port.ts';
import {
  at,
  COUNTER,
  counterOf,
  everything,
  fixed,
  increment,
  inRange,
  put,
  rangeOf,
  RELAXED,
  row,
  sequence,
  write,
} from '../store/testing/store-rows.ts';
import { partsOf } from './codec/log-parts.ts';
import { recordBytes } from './codec/log-record.ts';
import { PACKED_LIMITS } from './limits.ts';
import { claimOf, IDS_PER_CLAIM, tablesOf, type IdRange } from './manifest.ts';
import { CountingMedium } from './testing/counting-medium.ts';
import { PackedStore } from './packed-store.ts';
import { createMemoryMedium, MediumData } from './testing/memory-medium.ts';
import { openPacked, SMALL } from './testing/packed-kit.ts';
import { salvaged } from './testing/salvaged.ts';
import type { Appended } from './tree/tree.ts';
import { verifyEntries } from './verify.ts';

const rows = (count: number, value = 'v'): Row[] =>
  sequence(count).map((i) => ({ ...row(fixed(i), [`e${fixed(i)}`]), value: value + fixed(i) }));

test('flush() shortens the log, and open() finds all rows in tables', async () => {
  const data = new MediumData();
  const store = await openPacked(data);
  await put(store, 'documents', rows(500));
  await write(store, { puts: [], deletes: [at(fixed(3))] });
  const before = await everything(store);
  await store.flush();
  // The claim of its ids, and the flip.
  expect(data.log).toHaveLength(2);
  expect(await everything(await openPacked(data))).toEqual(before);
  expect(await store.verify()).toEqual([]);
});

test('open() refuses blocks without a log instead of deleting them', async () => {
  const data = new MediumData();
  const store = await openPacked(data);
  await put(store, 'documents', rows(50));
  await store.flush();
  data.log = [];
  await expect(openPacked(data)).rejects.toMatchObject({ code: 'local_data_loss' });
});

test('open() of a new store succeeds although another tab writes and flushes at the same time', async () => {
  const data = new MediumData();
  const memory = createMemoryMedium(data);
  let reads = 0;
  const store = await openPacked(data, PACKED_LIMITS, {
    medium: {
      ...memory,
      async read(...asked) {
        const found = await memory.read(...asked);
        reads += 1;
        if (reads > 1) return found;
        const other = await openPacked(data);
        await put(other, 'documents', rows(5));
        await other.flush();
        return found;
      },
    },
  });
  expect((await everything(store)).documents).toHaveLength(5);
});

test('a record that was appended under a number other than its own is ignored by all tabs', async () => {
  const data = new MediumData();
  // Both tabs assume that they hold the lease, as a tab does after it was frozen.
  const lease = { leaseTerm: () => 1 };
  const [store, other] = [await openPacked(data, {}, lease), await openPacked(data, {}, lease)];
  for (const tab of [store, other, store, other]) await increment(tab);
  const counted = data.log.map(({ bytes }) => bytes !== undefined).join(' ');
  expect(counted).toBe('true false true false true false true');
  const again = await openPacked(data);
  for (const tab of [other, again]) expect(await counterOf(tab)).toBe(4);
  const saved = await salvaged(data);
  expect(saved.damaged).toEqual([]);
  expect(saved.rows(COUNTER.space)).toMatchObject([{ key: COUNTER.key, value: '4' }]);
  await again.flush();
  for (const tab of [store, other]) await increment(tab);
  expect(await counterOf(await openPacked(data))).toBe(6);
  expect(await again.verify()).toEqual([]);
});

test.each(['before the transaction', 'in it'])(
  'a write without changes ends (%s) however fast another tab commits, and reads no older data than at its start',
  async (place) => {
    const data = new MediumData();
    const [store, other] = [await openPacked(data), await openPacked(data)];
    await increment(store);
    // After a conflict a body runs only within the transaction, and the other tab has to wait for it.
    const isInIt = place === 'in it';
    if (isInIt) {
      await increment(other);
      await increment(store);
    }
    await increment(other);
    const others: Promise<unknown>[] = [];
    let runs = 0;
    const seen = await store.write(async (tx) => {
      runs += 1;
      const { rows: found } = await tx.fetch([COUNTER], []);
      if (runs < 9) others.push(increment(other));
      if (!isInIt) await Promise.all(others);
      return Number(found[0]?.value);
    }, RELAXED);
    await Promise.all(others);
    expect(runs).toBeLessThan(4);
    expect(seen).toBeGreaterThanOrEqual(isInIt ? 4 : 2);
  },
);

/** Commits until the store appends without reading the log first. */
async function untilUncontended(store: PackedStore): Promise<void> {
  for (let n = 0; n < 5; n += 1) await increment(store);
}

test('a write without changes reads the log, also after many commits without a conflict', async () => {
  const data = new MediumData();
  const [store, other] = [await openPacked(data), await openPacked(data)];
  await untilUncontended(store);
  await increment(other);
  const seen = await store.write(
    async (tx) => (await tx.fetch([COUNTER], [])).rows[0]?.value,
    RELAXED,
  );
  expect(seen).toBe('6');
});

test('a commit that a read of the same tab finds while a body runs is not overwritten', async () => {
  const data = new MediumData();
  const [store, other] = [await openPacked(data), await openPacked(data)];
  await untilUncontended(store);
  let runs = 0;
  await store.write(async (tx) => {
    runs += 1;
    const count = Number((await tx.fetch([COUNTER], [])).rows[0]?.value);
    if (runs === 1) {
      await increment(other);
      await counterOf(store);
    }
    const row = { key: COUNTER.key, entries: [], value: String(count + 1) };
    tx.apply({ puts: [{ space: 'meta', row }], deletes: [] });
  }, RELAXED);
  expect([runs, await counterOf(other)]).toEqual([2, 7]);
});

test('block ids come from a claim, also if its second append is lost and another tab appends first', async () => {
  const data = new MediumData();
  const other = await openPacked(data);
  const memory = createMemoryMedium(data);
  let isLost = false;
  const store = await openPacked(data, SMALL, {
    medium: {
      ...memory,
      // Like a connection that is lost during the append: the record is not stored, and the other tab's record is.
      async appendAfter(...asked) {
        if (!isLost) return memory.appendAfter(...asked);
        isLost = false;
        await increment(other);
        return undefined;
      },
    },
  });
  await put(store, 'documents', rows(5));
  await increment(other);
  isLost = true;
  await store.flush();
  expect(isLost).toBe(false);
  expect(Math.min(...data.blocks.keys())).toBeGreaterThanOrEqual(IDS_PER_CLAIM);
  expect(await store.verify()).toEqual([]);
});

test.each([1, undefined])(
  'a read after a commit with a lost answer shows the commit, also with the lease in term %s',
  async (term) => {
    const data = new MediumData();
    const memory = createMemoryMedium(data);
    let isLost = false;
    const losing = async <T>(appending: Promise<T>): Promise<T> => {
      const answer = await appending;
      if (isLost) throw new Error('the answer was lost');
      return answer;
    };
    const store = await openPacked(data, SMALL, {
      leaseTerm: () => term,
      medium: {
        ...memory,
        append: (...asked) => losing(memory.append(...asked)),
        appendAfter: (...asked) => losing(memory.appendAfter(...asked)),
      },
    });
    await increment(store);
    isLost = true;
    await expect(increment(store)).rejects.toThrow('lost');
    isLost = false;
    expect(await counterOf(store)).toBe(2);
    // A client that first checks whether its write is stored does not write twice.
    const checked = await store.write(async (tx) => {
      const { rows: found } = await tx.fetch([COUNTER], []);
      return found[0]?.value;
    }, RELAXED);
    expect(checked).toBe('2');
    await increment(store);
    expect(await counterOf(await openPacked(data))).toBe(3);
  },
);

test('a read of the log that began before a commit with a lost answer does not make the tab trust its cache', async () => {
  const data = new MediumData();
  const memory = createMemoryMedium(data);
  const gate = { isShut: false, open: (): void => undefined };
  let isLost = false;
  let term: number | undefined = undefined;
  const store = await openPacked(data, SMALL, {
    leaseTerm: () => term,
    medium: {
      ...memory,
      async read(...asked) {
        const found = await memory.read(...asked);
        if (gate.isShut) await new Promise<void>((resolve) => (gate.open = resolve));
        return found;
      },
      async append(...asked) {
        const answer = await memory.append(...asked);
        if (isLost) throw new Error('the answer was lost');
        return answer;
      },
    },
  });
  // Other tabs have not committed for a while, so the store appends without reading the log.
  for (const _ of sequence(6)) await increment(store);
  // The other tab has just closed, so this tab holds the lease.
  term = 1;
  gate.isShut = true;
  const reading = counterOf(store);
  isLost = true;
  await expect(increment(store)).rejects.toThrow('lost');
  gate.isShut = false;
  gate.open();
  expect(await reading).toBe(6);
  expect(await counterOf(store)).toBe(7);
});

test('a lease that is acquired during a read of the log does not make the tab trust this read', async () => {
  const data = new MediumData();
  const other = await openPacked(data);
  const memory = createMemoryMedium(data);
  let term: number | undefined;
  let isAcquired = false;
  const store = await openPacked(
    data,
    {},
    {
      leaseTerm: () => term,
      medium: {
        ...memory,
        async read(...asked) {
          const found = await memory.read(...asked);
          if (!isAcquired) return found;
          isAcquired = false;
          await increment(other);
          term = 1;
          return found;
        },
      },
    },
  );
  await increment(store);
  isAcquired = true;
  expect([await counterOf(store), await counterOf(store)]).toEqual([1, 2]);
});

test.each(['a missing', 'a repeated'])('%s part of a log record is damage', async (what) => {
  const data = new MediumData();
  const store = await openPacked(data);
  await put(store, 'documents', [{ ...row('long'), value: 'x'.repeat(200_000) }]);
  expect(data.log.length).toBeGreaterThan(3);
  const [, second] = data.log;
  data.log =
    what === 'a missing'
      ? data.log.slice(0, -1)
      : data.log.map((part) => (part.number === 3 ? { ...part, bytes: second?.bytes } : part));
  await expect(openPacked(data)).rejects.toMatchObject({ code: 'local_data_loss' });
});

test('an empty log record is damage, and not a record to ignore', async () => {
  const data = new MediumData();
  await increment(await openPacked(data));
  data.log.push({ number: (data.lastNumber += 1), bytes: new Uint8Array() });
  await expect(openPacked(data)).rejects.toMatchObject({ code: 'local_data_loss' });
  expect((await salvaged(data)).damaged).toEqual([`log record ${data.lastNumber}`]);
});

test('read() keeps its snapshot while all its tables are merged and deleted', async () => {
  const data = new MediumData();
  const store = await openPacked(data, SMALL, { cacheBytesMax: 0 });
  await put(store, 'documents', rows(60));
  await store.flush();
  const seen = await store.read(async (tx) => {
    const before = await tx.fetch([at(fixed(7))], []);
    for (const round of sequence(6)) {
      await put(store, 'documents', rows(60, `round ${round} `));
      await store.flush();
      await store.sweep();
    }
    return [
      ...before.rows,
      ...(
        await tx.fetch(
          rows(60).map(({ key }) => at(key)),
          [],
        )
      ).rows,
    ];
  });
  expect(seen.map((each) => each?.value)).toEqual(
    [fixed(7), ...sequence(60).map(fixed)].map((each) => `v${each}`),
  );
  expect((await inRange(store, { limit: 1 }))[0]?.row?.value).toBe('round 5 000000');
});

test('read() keeps its snapshot although its tables are merged and all else is swept', async () => {
  const store = await openPacked(new MediumData(), SMALL, { cacheBytesMax: 0 });
  await put(store, 'documents', rows(60));
  await store.flush();
  let runs = 0;
  const found = await store.read(async (tx) => {
    runs += 1;
    await tx.fetch([at(fixed(0))], []);
    if (runs === 1)
      for (const round of sequence(6)) {
        await put(store, 'documents', rows(60, `round ${round} `));
        await store.flush();
        await store.sweep();
      }
    return tx.fetch([at(fixed(9))], []);
  });
  expect([runs, found.rows[0]?.value]).toEqual([1, `v${fixed(9)}`]);
});

test('write() runs its body again if a concurrent read has found a commit of another tab', async () => {
  const data = new MediumData();
  const [store, other] = [await openPacked(data), await openPacked(data)];
  let runs = 0;
  await store.write(async (tx) => {
    runs += 1;
    const found = await tx.fetch([at('counter')], []);
    if (runs === 1) {
      await put(other, 'documents', [{ ...row('counter'), value: 'of the other tab' }]);
      await inRange(store, { limit: 1 });
    }
    const value = `after ${String(found.rows[0]?.value)}`;
    tx.apply({ puts: [{ space: 'documents', row: { ...row('counter'), value } }], deletes: [] });
  }, RELAXED);
  expect(runs).toBe(2);
  expect((await inRange(store, { limit: 1 }))[0]?.row?.value).toBe('after of the other tab');
});

test('read() in another tab runs again if its tables are merged away', async () => {
  const data = new MediumData();
  const other = await openPacked(data, {}, { cacheBytesMax: 0 });
  const store = await openPacked(data, SMALL);
  await put(store, 'documents', rows(60));
  await store.flush();
  let runs = 0;
  const found = await other.read(async (tx) => {
    runs += 1;
    await tx.fetch([at(fixed(0))], []);
    if (runs === 1)
      for (const round of sequence(6)) {
        await put(store, 'documents', rows(60, `round ${round} `));
        await store.flush();
      }
    return tx.fetch(
      rows(60).map(({ key }) => at(key)),
      [],
    );
  });
  expect(runs).toBe(2);
  expect(found.rows[9]?.value).toBe(`round 5 ${fixed(9)}`);
});

test('a merge that another tab has completed first changes nothing', async () => {
  const data = new MediumData();
  const filling = await openPacked(data, { ...SMALL, runsPerLevel: 100 });
  for (const round of sequence(4)) {
    await put(filling, 'documents', rows(40, `round ${round} `));
    await filling.flush();
  }
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let pauses = 0;
  const late = await openPacked(data, SMALL, {
    pause: () => ((pauses += 1) === 3 ? gate : Promise.resolve()),
  });
  const merging = late.flush();
  const fast = await openPacked(data, SMALL);
  for (const round of sequence(3)) {
    await put(fast, 'documents', rows(20, `later ${round} `));
    await fast.flush();
  }
  const expected = await everything(fast);
  open();
  await merging;
  expect(pauses).toBeGreaterThan(3);
  expect(await late.verify()).toEqual([]);
  expect(await everything(late)).toEqual(expected);
  expect(await everything(await openPacked(data))).toEqual(expected);
});

/** The rows of one block, without the others. */
async function rowsOfBlock(data: MediumData, id: number): Promise<readonly Row[]> {
  const only = new MediumData();
  const bytes = data.blocks.get(id);
  if (bytes) only.putBlocks([{ id, bytes }]);
  return (await salvaged(only)).rows('documents');
}

test('read() and verify() name a damaged block, and salvage() returns exactly the rows of the other blocks (F31)', async () => {
  const data = new MediumData();
  const store = await openPacked(data);
  const documents = rows(2000);
  await put(store, 'documents', documents);
  await store.flush();
  await put(store, 'meta', [row('later')]);
  const [id = 0] = [...data.blocks.keys()].sort((a, b) => a - b);
  // The first block has the first rows.
  const first = await rowsOfBlock(data, id);
  expect(first.length).toBeGreaterThan(0);
  expect(documents.slice(0, first.length)).toEqual(first);
  const bytes = data.blocks.get(id)?.slice() ?? new Uint8Array();
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  data.blocks.set(id, bytes);
  const damaged = await openPacked(data);
  await expect(inRange(damaged, {})).rejects.toMatchObject({
    code: 'local_data_loss',
    message: expect.stringContaining(`block ${id} `),
  });
  expect(await damaged.verify()).toEqual([expect.stringContaining(`block ${id} `)]);
  const saved = await salvaged(data);
  expect(saved.damaged).toEqual([`block ${id}`]);
  expect(saved.rows('meta')).toEqual([row('later')]);
  expect(saved.rows('documents')).toEqual(documents.slice(first.length));
});

test('a missing block or log record causes an error that names it', async () => {
  const data = new MediumData();
  const store = await openPacked(data);
  await put(store, 'documents', rows(50));
  await store.flush();
  await put(store, 'documents', rows(1, 'a'));
  await put(store, 'documents', rows(1, 'b'));
  const [id = 0] = [...data.blocks.keys()].sort((a, b) => a - b);
  data.blocks.delete(id);
  const without = await openPacked(data);
  await expect(inRange(without, {})).rejects.toThrow(`block ${id} (it is missing)`);
  const [, second] = data.log;
  data.log = data.log.filter((each) => each !== second);
  await expect(openPacked(data)).rejects.toThrow(`log record ${second?.number} (it is missing)`);
});

test('verify() names missing blocks, missing records and damaged records', async () => {
  const data = new MediumData();
  const store = await openPacked(data);
  await put(store, 'documents', rows(2000));
  await store.flush();
  const [id = 0] = [...data.blocks.keys()].sort((a, b) => a - b);
  const bytes = data.blocks.get(id) ?? new Uint8Array();
  data.blocks.delete(id);
  expect(await store.verify()).toEqual([expect.stringContaining(`block ${id} (it is missing)`)]);
  data.blocks.set(id, bytes);
  expect(await store.verify()).toEqual([]);
  await increment(store);
  await increment(store);
  const { log } = data;
  const last = store.lastNumber;
  data.log = log.slice(0, -1);
  expect(await store.verify()).toEqual([
    expect.stringContaining(`log record ${last} (it is missing)`),
  ]);
  data.log = log.map((part) =>
    part.number === last - 1 ? { ...part, bytes: new Uint8Array(9) } : part,
  );
  expect(await store.verify()).toEqual([expect.stringContaining(`log record ${last - 1} (`)]);
});

test('verify() follows merges of another tab, and does not report them as damage', async () => {
  const data = new MediumData();
  const store = await openPacked(data, SMALL);
  await put(store, 'documents', rows(60));
  await store.flush();
  const late = await openPacked(data, SMALL);
  for (const round of sequence(6)) {
    await put(store, 'documents', rows(60, `round ${round} `));
    await store.flush();
  }
  expect(await late.verify()).toEqual([]);
});

test('verify() fails if the storage is unavailable, instead of reporting damage', async () => {
  const data = new MediumData();
  const memory = createMemoryMedium(data);
  let isGone = false;
  const refused = new Refusal('storage_unavailable', 'The storage has gone.');
  const store = await openPacked(data, SMALL, {
    medium: {
      ...memory,
      read: async (...asked) => {
        if (isGone) throw refused;
        return memory.read(...asked);
      },
    },
  });
  await put(store, 'documents', rows(60));
  await store.flush();
  isGone = true;
  await expect(store.verify()).rejects.toBe(refused);
});

test.each(['documents', 'history'] as const)(
  'verify() names an index entry of %s that no row has',
  async (space) => {
    const data = new MediumData();
    await put(await openPacked(data), space, [row('a', ['x', 'y'])]);
    // This commit does not say that the entry `x` has ended.
    const change = { space, key: keyOfBytes('a'), row: row('a', ['y']), ended: [] };
    const record = recordBytes({ kind: 'commit', changes: [change] });
    data.append(partsOf(record), data.lastNumber + 1);
    expect(await (await openPacked(data)).verify()).toEqual([
      `the index entries of ${space} are not those of its rows`,
    ]);
  },
);

test('verify() finds all rows of an entry, wherever a fetch ends', async () => {
  const store = await openPacked(new MediumData());
  const some = sequence(60).map((i) => row(fixed(i), [i < 30 ? 'x' : 'y']));
  await put(store, 'documents', some);
  let cut = 0;
  const problems = await store.read((tx) => {
    const limited: ReadTx = {
      async fetch(keys, ranges, bytesMax = Infinity) {
        const found = await tx.fetch(keys, ranges, bytesMax / 10_000);
        if (found.truncation) cut += 1;
        return found;
      },
    };
    return verifyEntries(limited, 'documents');
  });
  expect(problems).toEqual([]);
  expect(cut).toBeGreaterThan(4);
});

test('verify() reads large rows a few at a time', async () => {
  const store = await openPacked(new MediumData());
  await put(store, 'documents', rows(40, 'x'.repeat(200_000)));
  await store.flush();
  let largest = 0;
  const problems = await store.read((tx) => {
    const watched: ReadTx = {
      async fetch(...request) {
        const found = await tx.fetch(...request);
        const values = found.ranges.flat().map(({ row: each }) => each?.value.length ?? 0);
        largest = Math.max(
          largest,
          values.reduce((sum, length) => sum + length, 0),
        );
        return found;
      },
    };
    return verifyEntries(watched, 'documents');
  });
  expect(problems).toEqual([]);
  expect(largest).toBeLessThan(2_000_000);
});

test('a flush or merge that runs out of space leaves none of its blocks', async () => {
  const data = new MediumData();
  const memory = createMemoryMedium(data);
  let room = 0;
  const failures: unknown[] = [];
  const store = await openPacked(data, SMALL, {
    medium: {
      ...memory,
      putBlocks: async (blocks) => {
        room -= 1;
        if (room < 0) throw new Refusal('quota_exceeded', 'There is no room.');
        await memory.putBlocks(blocks);
      },
    },
    onFailure: (reason) => failures.push(reason),
  });
  for (const round of sequence(40)) {
    room = round;
    await put(store, 'documents', rows(60, `round ${round} `));
    await store.flush();
    const { manifest } = store;
    const claims = new Set([...tablesOf(manifest), ...manifest.retired].map(claimOf));
    expect([...data.blocks.keys()].filter((first) => !claims.has(claimOf({ first })))).toEqual([]);
  }
  expect(failures.length).toBeGreaterThan(10);
  room = Infinity;
  await store.flush();
  expect(await store.verify()).toEqual([]);
});

test('a flush that runs out of space deletes no block of a tab that claimed the next ids', async () => {
  const data = new MediumData();
  const other = await openPacked(data);
  const memory = createMemoryMedium(data);
  const failures: unknown[] = [];
  const store = await openPacked(data, PACKED_LIMITS, {
    medium: {
      ...memory,
      async putBlocks() {
        await everything(other);
        await other.flush();
        throw new Refusal('quota_exceeded', 'There is no room.');
      },
    },
    onFailure: (reason) => failures.push(reason),
  });
  await put(store, 'documents', rows(5));
  const claim = store.lastNumber + 1;
  await store.flush();
  expect(failures).toHaveLength(1);
  expect(tablesOf(other.manifest).map(claimOf)).toContain(claim + 1);
  expect(await other.verify()).toEqual([]);
});

test('a flush does not bring in blocks that a sweep of another tab has deleted', async () => {
  const data = new MediumData();
  const other = await openPacked(data);
  const memory = createMemoryMedium(data);
  let sweeps = 0;
  const store = await openPacked(data, PACKED_LIMITS, {
    medium: {
      ...memory,
      async putBlocks(blocks) {
        await memory.putBlocks(blocks);
        if (sweeps > 0) return;
        sweeps += 1;
        // The claim of the sweep follows that of the flush.
        await everything(other);
        await other.sweep();
      },
    },
  });
  await put(store, 'documents', rows(5));
  const claim = store.lastNumber + 1;
  await store.flush();
  expect([sweeps, store.manifest.swept]).toEqual([1, claim]);
  expect((await everything(await openPacked(data))).documents).toHaveLength(5);
  expect(await other.verify()).toEqual([]);
});

test('sweep() deletes no inverted range of ids while other tabs add tables', async () => {
  const data = new MediumData();
  const other = await openPacked(data);
  await put(other, 'documents', rows(5));
  await other.flush();
  const memory = createMemoryMedium(data);
  const trimmed: IdRange[] = [];
  let appends = 0;
  const store = await openPacked(data, PACKED_LIMITS, {
    medium: {
      ...memory,
      async append(...appended) {
        appends += 1;
        // Between the claim and the flip of the first store.
        for (const round of sequence(appends === 2 ? 3 : 0)) {
          await put(other, 'documents', rows(5, `${round} `));
          await other.flush();
        }
        return memory.append(...appended);
      },
      async trim(logThrough, blocks) {
        trimmed.push(...blocks);
        await memory.trim(logThrough, blocks);
      },
    },
  });
  await store.sweep();
  expect(trimmed).not.toEqual([]);
  expect(trimmed.filter(({ first, last }) => first > last)).toEqual([]);
  expect(await everything(store)).toEqual(await everything(other));
  expect(await store.verify()).toEqual([]);
});

test('write() that has to read blocks succeeds on its second run, beside a fast writer', async () => {
  const data = new MediumData();
  const filling = await openPacked(data, SMALL);
  await put(filling, 'documents', rows(60));
  await filling.flush();
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const memory = createMemoryMedium(data);
  const slow = await openPacked(data, SMALL, {
    medium: {
      ...memory,
      async read(...asked) {
        await turn();
        return memory.read(...asked);
      },
    },
  });
  const fast = await openPacked(data, SMALL);
  const over = new AbortController();
  let runs = 0;
  const long = slow.write(async (tx) => {
    runs += 1;
    for (const i of sequence(20)) await tx.fetch([at(fixed(i * 3))], []);
    tx.apply({ puts: [{ space: 'documents', row: row('a') }], deletes: [] });
  }, RELAXED);
  const others = (async () => {
    while (!over.signal.aborted) {
      await increment(fast);
      await turn();
    }
  })();
  await long;
  over.abort();
  await others;
  expect(runs).toBe(2);
  expect(await counterOf(fast)).toBeGreaterThan(1);
});

test('applyAppended() applies commits of another tab only in their order, and each once', async () => {
  const data = new MediumData();
  const broadcasts: Appended[] = [];
  const store = await openPacked(data, {}, { broadcast: (appended) => broadcasts.push(appended) });
  const other = await openPacked(data);
  await increment(store);
  await increment(store);
  const [first, second] = broadcasts;
  if (!first || !second) throw new Error('nothing was broadcast');
  other.applyAppended(second);
  expect(other.lastNumber).toBe(0);
  other.applyAppended(first);
  other.applyAppended(first);
  other.applyAppended(second);
  expect(other.lastNumber).toBe(store.lastNumber);
  let runs = 0;
  await other.write(async (tx) => {
    runs += 1;
    const { rows: found } = await tx.fetch([COUNTER], []);
    expect(found[0]?.value).toBe('2');
    tx.apply({ puts: [{ space: 'documents', row: row('a') }], deletes: [] });
  }, RELAXED);
  expect(runs).toBe(1);
});

test('write() does not read the log while other tabs are silent or broadcast their commits', async () => {
  const data = new MediumData();
  const medium = new CountingMedium(createMemoryMedium(data));
  const store = await openPacked(data, {}, { medium });
  const other = await openPacked(
    data,
    {},
    { broadcast: (appended) => store.applyAppended(appended) },
  );
  const silent = await openPacked(data);
  for (let round = 0; round < 5; round += 1) await increment(store);
  medium.take();
  await increment(store);
  await increment(other);
  await increment(store);
  expect(medium.take()).toMatchObject({ reads: 0, appended: 2 });
  // After a conflict the store reads the log first, for some commits.
  await increment(silent);
  await increment(store);
  expect(medium.take()).toMatchObject({ reads: 1, appended: 2 });
  await increment(store);
  expect(medium.take()).toMatchObject({ reads: 1, appended: 1 });
  expect(await counterOf(other)).toBe(11);
});

test('a tab that holds the lease broadcasts nothing', async () => {
  const broadcasts: Appended[] = [];
  const store = await openPacked(
    new MediumData(),
    {},
    { leaseTerm: () => 1, broadcast: (appended) => broadcasts.push(appended) },
  );
  await increment(store);
  expect(broadcasts).toEqual([]);
});

test('fetch() of several ranges stops at its limit of bytes, and reports which ranges are cut', async () => {
  const data = new MediumData();
  const store = await openPacked(data, SMALL);
  await put(store, 'documents', rows(300, 'x'.repeat(50)));
  await store.flush();
  const ranges = sequence(6).map((i) =>
    rangeOf({ by: 'entry', lower: keyOfBytes(`e${fixed(i * 50)}`) }),
  );
  const whole = await store.read((tx) => tx.fetch([], ranges));
  for (const bytesMax of sequence(40).map((i) => i * i * 100)) {
    const cold = await openPacked(data, SMALL, { cacheBytesMax: 0 });
    const found = await cold.read((tx) => tx.fetch([at(fixed(7))], ranges, bytesMax));
    for (const [i, entries] of found.ranges.entries()) {
      expect(entries).toEqual(whole.ranges[i]?.slice(0, entries.length));
      const isCut = found.truncation?.ranges.has(i) === true;
      expect(entries.length < (whole.ranges[i]?.length ?? 0)).toBe(isCut);
    }
    await cold.close();
  }
});

test('blocks of an interrupted flush are deleted, even if every later session is short', async () => {
  const data = new MediumData();
  const lost = new PackedStore({
    medium: { ...createMemoryMedium(data), trim: () => Promise.reject(new Error('killed')) },
    limits: SMALL,
    pause: async () => {
      if (data.blocks.size > 0) throw new Error('killed');
    },
    onFailure: () => undefined,
  });
  await put(lost, 'documents', rows(50));
  await lost.flush();
  const left = [...data.blocks.keys()];
  expect(left).not.toEqual([]);
  for (let session = 0; session < 4; session += 1) {
    const store = await openPacked(data, { ...SMALL, unsweptMax: 10 });
    for (let n = 0; n < 4; n += 1) await increment(store);
    await store.close();
  }
  expect(left.filter((id) => data.blocks.has(id))).toEqual([]);
  expect(await (await openPacked(data)).verify()).toEqual([]);
});
