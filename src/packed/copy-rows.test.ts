import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../store/memory.ts';
import { HOT_SPACES, type Row, type Space, type Store } from '../store/port.ts';
import { fixed, inRange, key, put, row, sequence } from '../store/testing/store-rows.ts';
import { watchedReads } from '../store/testing/watched-reads.ts';
import { COPIED, copyRows } from './copy-rows.ts';
import { emptyLogFrom } from './empty-log.ts';
import type { Medium } from './medium.ts';
import { createMemoryMedium, MediumData } from './testing/memory-medium.ts';
import { openPacked, SMALL } from './testing/packed-kit.ts';

const ROWS = 60;
const SLICE = { sliceRows: 7 };

async function filled(): Promise<Store> {
  const store = createMemoryStore();
  const rows = sequence(ROWS).map((i) => row(fixed(i), [`a${fixed((i * 7) % ROWS)}`, `b${i % 3}`]));
  await put(store, 'documents', rows);
  await put(store, 'history', rows.slice(0, 9));
  await put(store, 'meta', [row('head'), row('zz')]);
  return store;
}

/** All rows of a store. The row with the progress of a copy is left out. */
async function contentsOf(store: Store): Promise<Record<Space, readonly Row[]>> {
  const contents: Partial<Record<Space, readonly Row[]>> = {};
  for (const space of HOT_SPACES) {
    const found = await inRange(store, { space });
    contents[space] = found.flatMap((each) =>
      each.row && each.key !== COPIED.key ? [each.row] : [],
    );
  }
  return contents as Record<Space, readonly Row[]>;
}

const entriesOf = async (store: Store): Promise<unknown> => {
  const found = await Promise.all(
    (['documents', 'history'] as const).map((space) => inRange(store, { space, by: 'entry' })),
  );
  return found.map((each) => each.map((entry) => [entry.entry, entry.key]));
};

class Killed extends Error {}

/** A medium that fails at call number `at` and at all later calls. `isDone`: whether the failing call is still executed. */
function killedAt(medium: Medium, at: number, isDone: boolean): Medium {
  let calls = 0;
  const call = async <T>(run: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (calls > at || (calls === at && !isDone)) throw new Killed();
    const value = await run();
    if (calls >= at) throw new Killed();
    return value;
  };
  return {
    read: (...asked) => call(() => medium.read(...asked)),
    append: (...asked) => call(() => medium.append(...asked)),
    appendAfter: (...asked) => call(() => medium.appendAfter(...asked)),
    putBlocks: (...asked) => call(() => medium.putBlocks(...asked)),
    trim: (...asked) => call(() => medium.trim(...asked)),
    close: () => medium.close(),
  };
}

test('copyRows() copies all rows with their entries, and returns their number', async () => {
  const from = await filled();
  const to = await openPacked(new MediumData(), SMALL);
  const slices: number[] = [];
  const copied = await copyRows(from, to, { ...SLICE, onSlice: (rows) => void slices.push(rows) });
  expect(copied).toEqual({ documents: ROWS, history: 9, sync: 0, meta: 2 });
  expect(slices.at(-1)).toBe(ROWS + 11);
  expect(slices.length).toBeGreaterThan(ROWS / SLICE.sliceRows);
  expect(await contentsOf(to)).toEqual(await contentsOf(from));
  expect(await entriesOf(to)).toEqual(await entriesOf(from));
  expect(await to.verify()).toEqual([]);
});

test('copyRows() interrupted at any call continues there, and neither loses nor duplicates rows', async () => {
  const from = await filled();
  const whole = [await contentsOf(from), await entriesOf(from)];
  let isKilled = true;
  let kills = 0;
  for (let at = 1; isKilled; at += 1) {
    for (const isDone of [false, true]) {
      const data = new MediumData();
      const killed = await attempt(from, data, killedAt(createMemoryMedium(data), at, isDone));
      isKilled = killed;
      kills += killed ? 1 : 0;
      let rowsAgain = 0;
      const store = await openPacked(data, SMALL);
      await copyRows(
        watchedReads(from, ({ ranges }) => (rowsAgain += ranges.flat().length)),
        store,
        SLICE,
      );
      expect(killed || rowsAgain === 0).toBe(true);
      await store.whenIdle();
      expect([await contentsOf(store), await entriesOf(store)]).toEqual(whole);
      expect(await store.verify()).toEqual([]);
      await store.close();
    }
  }
  expect(kills).toBeGreaterThan(100);
});

test('copyRows() interrupted again and again completes in the end', async () => {
  const from = await filled();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 8 }), async (kills) => {
      const data = new MediumData();
      for (const at of kills)
        await attempt(from, data, killedAt(createMemoryMedium(data), at, at % 2 === 0));
      const store = await openPacked(data, SMALL);
      const copied = await copyRows(from, store, SLICE);
      expect(copied).toEqual({ documents: ROWS, history: 9, sync: 0, meta: 2 });
      expect(await contentsOf(store)).toEqual(await contentsOf(from));
      await store.close();
    }),
    { numRuns: 60 },
  );
});

test('copyRows() copies rows that are larger than a slice', async () => {
  const from = createMemoryStore();
  const rows = sequence(5).map((i): Row => ({ ...row(fixed(i)), value: `${i}`.repeat(100_000) }));
  await put(from, 'documents', rows);
  const to = await openPacked(new MediumData());
  expect(await copyRows(from, to, { sliceBytes: 1000 })).toMatchObject({ documents: 5 });
  expect((await contentsOf(to)).documents).toEqual(rows);
});

test('a log can start anew after numbers that were already used', async () => {
  const data = new MediumData();
  const former = await openPacked(data, SMALL);
  await put(former, 'documents', [row('a'), row('b')]);
  await former.close();
  // Like `clear()` of an object store, which does not reset the key generator.
  data.log = [];
  data.blocks.clear();
  const number = data.lastNumber + 1;
  expect(await createMemoryMedium(data).append(emptyLogFrom(number), number, 'strict')).toBe(true);
  const store = await openPacked(data, SMALL);
  expect(await inRange(store, {})).toEqual([]);
  for (const i of sequence(20)) await put(store, 'documents', [row(fixed(i), ['e'])]);
  await store.whenIdle();
  const again = await openPacked(data, SMALL);
  expect(await inRange(again, {})).toHaveLength(20);
  expect(await again.verify()).toEqual([]);
  expect((await inRange(again, { lower: key(fixed(3)), limit: 1 }))[0]?.key).toBe(key(fixed(3)));
});

/** Copies the rows. Returns whether the copy was killed. */
async function attempt(from: Store, data: MediumData, medium: Medium): Promise<boolean> {
  let isKilled = false;
  try {
    const store = await openPacked(data, SMALL, {
      medium,
      onFailure: (reason) => {
        if (!(reason instanceof Killed)) throw reason;
        isKilled = true;
      },
    });
    await copyRows(from, store, SLICE);
    await store.whenIdle();
  } catch (reason) {
    if (!(reason instanceof Killed)) throw reason;
    isKilled = true;
  }
  return isKilled;
}
