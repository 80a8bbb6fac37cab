import { afterEach, expect, test, vi } from 'vitest';
import type { Refusal } from '../../../src/errors.ts';
import { COPIED } from '../../../src/packed/copy-rows.ts';
import { SMALL } from '../../../src/packed/testing/packed-kit.ts';
import { HOT_SPACES, type Row, type Space, type Store } from '../../../src/store/port.ts';
import {
  counterOf,
  fixed,
  increment,
  inRange,
  put,
  row,
  sequence,
} from '../../../src/store/testing/store-rows.ts';
import { withFault, type Call } from '../../testing/idb-faults.ts';
import { rawOpen } from '../../testing/raw-database.ts';
import { OPEN } from '../../testing/store-kinds.ts';
import { freshName, MemoryMarker, storeOptions } from '../../testing/store-kit.ts';
import { isStamp, STAMP_KEY } from '../birth-stamp.ts';
import { destroyStore, type BrowserStore } from '../browser-store.ts';
import { OtherLayout } from '../idb-connection.ts';
import {
  MOVING_LAYOUT,
  PACKED_LAYOUT,
  ROWS_LAYOUT,
  versionOf,
  type StoreKind,
} from '../layouts.ts';
import { openIndexedDbStore } from '../open-layout.ts';
import { flipLayout } from './flip-layout.ts';
import type { MoveProgress } from './layout-lock.ts';
import { moveDatabase, type MoveOptions } from './move-database.ts';
import { openInLayout } from './open-in-layout.ts';
import { dropStaging } from './staging.ts';

const ROWS = 40;
const SPACES: readonly Space[] = [...HOT_SPACES, 'log', 'files'];

const opened: BrowserStore[] = [];
const names: string[] = [];
const keep = <T extends BrowserStore>(store: T): T => {
  opened.push(store);
  return store;
};
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((store) => store.close()));
  for (const name of names.splice(0)) await destroyStore(name, { marker: null });
});

function newName(): string {
  const name = freshName();
  names.push(name);
  return name;
}

/** Stores rows in all spaces. */
async function fill(name: string): Promise<void> {
  const store = await OPEN.rows(name);
  const rows = sequence(ROWS).map((i) => row(fixed(i), [`a${fixed((i * 7) % ROWS)}`, `b${i % 3}`]));
  await put(store, 'documents', rows);
  for (const space of ['history', 'sync', 'log', 'files'] as const)
    await put(
      store,
      space,
      rows.slice(0, 9).map((each) => withoutEntries(space, each)),
    );
  await increment(store);
  await store.close();
}

const withoutEntries = (space: Space, each: Row): Row =>
  space === 'history' ? each : { ...each, entries: [] };

/** The contents of the store, without the row that records the progress of a move. */
async function contentsOf(store: Store): Promise<unknown> {
  const rows = await Promise.all(SPACES.map((space) => inRange(store, { space })));
  const entries = await Promise.all(
    (['documents', 'history'] as const).map((space) => inRange(store, { space, by: 'entry' })),
  );
  return {
    rows: rows.map((each) =>
      each.flatMap(({ row: found }) => (found && found.key !== COPIED.key ? found : [])),
    ),
    entries: entries.map((each) => each.map(({ entry, key }) => [entry, key])),
  };
}

const moveOptions = (more: Partial<MoveOptions> = {}): MoveOptions => ({
  ...storeOptions(),
  limits: SMALL,
  sliceRows: 7,
  ...more,
});

interface Received {
  readonly progress: MoveProgress[];
  readonly failures: unknown[];
}

/** Opens the database as `openStoredDatabase` does. */
async function open(
  name: string,
  wanted: StoreKind = 'packed',
  { progress, failures }: Received = { progress: [], failures: [] },
): Promise<BrowserStore> {
  const store = await openInLayout(name, {
    wanted,
    options: { ...storeOptions(), limits: SMALL, leaseTerm: () => undefined },
    move: (onProgress) => moveDatabase(name, moveOptions({ onProgress })),
    onMove: (each) => void progress.push(each),
    onMoveFailed: (reason) => void failures.push(reason),
  });
  return keep(store);
}

async function versionStored(name: string): Promise<number> {
  const idb = await rawOpen(name);
  const { version } = idb;
  idb.close();
  return version;
}

/** The number of rows left in the former object stores, without the stamps, plus 1 while the stamp says that rows are left. */
async function rowsLeft(name: string): Promise<number> {
  const idb = await rawOpen(name);
  const tx = idb.transaction([...HOT_SPACES]);
  const counts = HOT_SPACES.map((space) => tx.objectStore(space).count(IDBKeyRange.lowerBound('')));
  const stamp: IDBRequest<unknown> = tx.objectStore('meta').get(STAMP_KEY);
  await new Promise((resolve) => tx.addEventListener('complete', resolve));
  idb.close();
  const isOver = isStamp(stamp.result) && stamp.result.formerRows === undefined;
  return counts.reduce((sum, { result }) => sum + result, isOver ? 0 : 1);
}

const untilRemoved = (name: string): Promise<unknown> =>
  vi.waitUntil(async () => (await rowsLeft(name)) === 0, { timeout: 60_000 });

test('a move stores all rows in blocks, keeps the birth, and removes the rows afterwards', async () => {
  const name = newName();
  await fill(name);
  const before = await OPEN.rows(name);
  const [contents, { birth }] = [await contentsOf(before), before];
  await before.close();
  const received: Received = { progress: [], failures: [] };
  const store = await open(name, 'packed', received);
  expect(store).toMatchObject({ birth, isNew: false, loss: undefined });
  expect(received.failures).toEqual([]);
  expect(received.progress.at(-1)).toEqual({ done: ROWS + 9 + 9 + 1, isComplete: true });
  expect(received.progress.length).toBeGreaterThan(8);
  await untilRemoved(name);
  expect(await contentsOf(store)).toEqual(contents);
  expect(await inRange(store, { space: 'meta' })).toHaveLength(1);
  await increment(store);
  await store.close();
  expect(await versionStored(name)).toBe(versionOf(PACKED_LAYOUT));
  // A database that was moved stays packed, whatever layout is requested later.
  expect(await counterOf(await open(name, 'rows'))).toBe(2);
});

test('a move killed at any call loses and duplicates nothing, and a later move completes', async () => {
  const contents: unknown[] = [];
  let kills = 0;
  for (let at = 1, isKilled = true; isKilled; at += 1 + Math.floor(at / 12)) {
    const name = newName();
    await fill(name);
    if (contents.length === 0) {
      const rows = await OPEN.rows(name);
      contents.push(await contentsOf(rows));
      await rows.close();
    }
    isKilled = await killedMove(name, at);
    if (isKilled) kills += 1;
    // The contents are complete, whether the database is stored as rows or as blocks at this point.
    if (at % 2 === 0) await expectContents(name, 'rows', contents[0]);
    else if (at % 3 === 0) await killedMove(name, at + 30);
    const store = await open(name);
    await untilRemoved(name);
    expect(await contentsOf(store)).toEqual(contents[0]);
    await store.close();
  }
  expect(kills).toBeGreaterThan(20);
});

async function expectContents(name: string, wanted: StoreKind, contents: unknown): Promise<void> {
  const store = await open(name, wanted);
  expect(await contentsOf(store)).toEqual(contents);
  await store.close();
}

/** From the call with this number on, nothing is done. Returns whether the move was killed before its end. */
async function killedMove(name: string, at: number): Promise<boolean> {
  let isKilled = false;
  const kill = {
    before: ({ number }: Call) => {
      if (number < at) return;
      isKilled = true;
      throw new DOMException('killed', 'DataError');
    },
  };
  await withFault(kill, async () => {
    await moveDatabase(name, moveOptions()).catch((reason: unknown) => {
      // An earlier attempt had completed the move.
      if (!isKilled && !(reason instanceof OtherLayout)) throw reason;
    });
  });
  return isKilled;
}

test('a move closes the stores of old tabs, and keeps all they have committed', async () => {
  const name = newName();
  await fill(name);
  const ends: string[] = [];
  const old = [
    keep(await OPEN.rows(name, { onEnd: (end) => ends.push(end) })),
    keep(await OPEN.rows(name, { onEnd: (end) => ends.push(end) })),
  ];
  let acknowledged = await counterOf(old[0] ?? neverOpened());
  const writing = old.map(async (store) => {
    for (;;) {
      await increment(store);
      acknowledged += 1;
    }
  });
  const failures = Promise.allSettled(writing);
  await vi.waitUntil(() => acknowledged > 10, { timeout: 60_000 });
  const store = await open(name);
  for (const each of await failures)
    expect(each).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('newer version') },
    });
  expect(ends).toEqual(['upgraded by another tab', 'upgraded by another tab']);
  expect(await counterOf(store)).toBe(acknowledged);
});

test('on a full disk a database stays stored as rows, and is moved once there is space', async () => {
  const name = newName();
  await fill(name);
  for (const full of ['commits', 'blocks']) {
    const received: Received = { progress: [], failures: [] };
    let asked = 0;
    await withFault(
      {
        before: ({ name: call, store }) => {
          if (store !== full || (call !== 'add' && call !== 'put')) return;
          asked += 1;
          // Not at the first call: some data that must be removed has been written by then.
          if (asked > 3) throw new DOMException('full', 'QuotaExceededError');
        },
      },
      async () => {
        const store = await open(name, 'packed', received);
        expect(received.failures).toMatchObject([
          { code: 'quota_exceeded', message: expect.stringContaining('stays stored as rows') },
        ]);
        await increment(store);
        await put(store, 'documents', [row(`after ${full}`, ['later'])]);
        await store.write(
          async (tx) =>
            tx.apply({ puts: [], deletes: [{ space: 'documents', key: row(fixed(3)).key }] }),
          { durability: 'relaxed' },
        );
        await store.close();
      },
    );
    expect(await versionStored(name)).toBe(versionOf(MOVING_LAYOUT));
  }
  const rows = await open(name, 'rows');
  const contents = await contentsOf(rows);
  expect(await counterOf(rows)).toBe(3);
  await rows.close();
  const store = await open(name);
  await untilRemoved(name);
  expect(await contentsOf(store)).toEqual(contents);
  await store.close();
  expect(await versionStored(name)).toBe(versionOf(PACKED_LAYOUT));
});

test('dropStaging() rejects with quota_exceeded when the disk is full', async () => {
  const name = newName();
  await fill(name);
  const before = ({ name: call }: Call): void => {
    if (call === 'transaction') throw new DOMException('full', 'QuotaExceededError');
  };
  await withFault({ before }, async () => {
    await expect(dropStaging(name, {})).rejects.toMatchObject({ code: 'quota_exceeded' });
  });
  await dropStaging(name, {});
});

test('a move does not begin if it would fill the disk', async () => {
  const name = newName();
  await fill(name);
  vi.spyOn(navigator.storage, 'estimate').mockResolvedValue({ usage: 60, quota: 100 });
  const received: Received = { progress: [], failures: [] };
  const store = await open(name, 'packed', received);
  expect(received).toMatchObject({ progress: [], failures: [{ code: 'quota_exceeded' }] });
  await increment(store);
  await store.close();
  expect(await versionStored(name)).toBe(versionOf(ROWS_LAYOUT));
});

test('tabs that open a database at once move it once, and all receive the progress', async () => {
  const name = newName();
  await fill(name);
  const tabs = sequence(3).map((): Received => ({ progress: [], failures: [] }));
  const stores = await Promise.all(tabs.map((received) => open(name, 'packed', received)));
  await Promise.all(stores.map((store) => increment(store)));
  for (const store of stores) expect(await counterOf(store)).toBe(4);
  expect(new Set(stores.map(({ birth }) => birth)).size).toBe(1);
  for (const { progress, failures } of tabs) {
    expect(failures).toEqual([]);
    expect(progress.length).toBeGreaterThan(0);
  }
  expect(await versionStored(name)).toBe(versionOf(PACKED_LAYOUT));
});

test('a half-moved database that a tab uses as rows is not moved until that tab closes it', async () => {
  const name = newName();
  await fill(name);
  await killedMove(name, 60);
  expect(await versionStored(name)).toBe(versionOf(MOVING_LAYOUT));
  const ends: string[] = [];
  const [one, two] = [await open(name, 'rows'), await open(name)];
  await Promise.all([increment(one), increment(two), increment(one), increment(two)]);
  expect(ends).toEqual([]);
  await one.close();
  expect(await counterOf(two)).toBe(5);
  await two.close();
  const store = await open(name);
  expect(await counterOf(store)).toBe(5);
  await store.close();
  expect(await versionStored(name)).toBe(versionOf(PACKED_LAYOUT));
});

test('flipLayout() refuses rows that differ from those copied', async () => {
  const name = newName();
  await fill(name);
  const rows = keep(await openIndexedDbStore(name, storeOptions({ layout: MOVING_LAYOUT })));
  const { birth } = rows;
  await rows.close();
  await killedMove(name, 60);
  const copy = { birth, rows: { documents: ROWS, history: 9, sync: 9, meta: 1 }, head: undefined };
  const { address } = storeOptions().head;
  for (const wrong of [
    { ...copy, birth: 'another' },
    { ...copy, rows: { ...copy.rows, documents: ROWS - 1 } },
    { ...copy, head: row('head') },
  ])
    await expect(flipLayout(name, wrong, { headAt: address })).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('stays stored as rows'),
    } satisfies Partial<Refusal>);
  expect(await versionStored(name)).toBe(versionOf(MOVING_LAYOUT));
  expect(await counterOf(await open(name))).toBe(1);
});

test('a loss that was not acknowledged before a move is reported after it', async () => {
  const name = newName();
  const marker = new MemoryMarker(JSON.stringify({ birth: 'former', head: 7 }));
  const rows = await OPEN.rows(name, { marker });
  await increment(rows);
  await rows.close();
  await moveDatabase(name, moveOptions({ marker }));
  const store = keep(await OPEN.packed(name, { marker }));
  expect(store.loss).toEqual({ kind: 'recreated', lastHead: 7 });
  await store.acknowledgeLoss();
  await store.close();
  expect(keep(await OPEN.packed(name, { marker })).loss).toBeUndefined();
});

test('former rows whose removal was interrupted are removed after the next opening', async () => {
  const name = newName();
  await fill(name);
  await moveDatabase(name, moveOptions());
  const cut = {
    before: ({ name: call, store }: Call) => {
      if (call === 'delete' && store === 'history') throw new DOMException('killed', 'DataError');
    },
  };
  await withFault(cut, async () => {
    const store = await open(name);
    await vi.waitUntil(async () => (await rowsLeft(name)) < ROWS, { timeout: 60_000 });
    await store.close();
  });
  expect(await rowsLeft(name)).toBeGreaterThan(0);
  const store = await open(name);
  await untilRemoved(name);
  expect(await counterOf(store)).toBe(1);
});

function neverOpened(): never {
  throw new Error('no store');
}
