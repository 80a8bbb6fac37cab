/** Proves L7 and L9: threats-and-faults.md, F9, F11-F15. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { metaKey, type Key } from '../../src/codec/key.ts';
import { headOf } from '../../src/engine/transactions.ts';
import { SPACES, type Store } from '../../src/store/port.ts';
import { STAMP_KEY } from './birth-stamp.ts';
import { openIndexedDbStore } from './open-layout.ts';
import { openStoredDatabase } from './open-store.ts';
import { destroyStore, type BrowserStore } from './browser-store.ts';
import type { IndexedDbStoreOptions } from './indexed-db-store.ts';
import { deleteDatabase } from './idb-connection.ts';
import { ROWS_FORMAT, ROWS_LAYOUT } from './layouts.ts';
import { openOutsideMarker } from './outside-marker.ts';
import { ReconnectingConnection } from './reconnecting-connection.ts';
import { probePersistence } from '../browser/persistence.ts';
import { evictIndexedDb, withoutProtocol } from '../testing/browser-storage.ts';
import { OPEN, STORE_KINDS, type StoreOptions } from '../testing/store-kinds.ts';
import { freshName, MemoryMarker, storeOptions } from '../testing/store-kit.ts';

const opened: BrowserStore[] = [];
const keep = async (opening: Promise<BrowserStore>): Promise<BrowserStore> => {
  const store = await opening;
  opened.push(store);
  return store;
};
afterEach(async () => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((store) => store.destroy()));
});

describe.each(STORE_KINDS)('in the layout `%s`', (kind) => {
  const open = (name: string, more: StoreOptions = {}): Promise<BrowserStore> =>
    keep(OPEN[kind](name, more));

  test('write() is refused when the database was evicted while open, and the next open() reports the loss', async ({
    skip,
  }) => {
    skip(withoutProtocol !== undefined, withoutProtocol);
    const name = freshName();
    const marker = new MemoryMarker();
    const ends: string[] = [];
    const store = await open(name, { marker, onEnd: (end) => ends.push(end), checkpointMs: 0 });
    await commit(store, 5);
    await marker.until((text) => text.includes('5'));
    await evictIndexedDb();
    await expect(commit(store, 6)).rejects.toMatchObject({ code: 'local_data_loss' });
    await expect(commit(store, 7)).rejects.toMatchObject({ code: 'local_data_loss' });
    await expect(headOfStore(store)).rejects.toMatchObject({ code: 'local_data_loss' });
    expect(ends).toEqual(['lost']);
    await store.close();
    const again = await open(name, { marker });
    expect(again.loss).toEqual({ kind: 'recreated', lastHead: 5 });
    expect(again.birth).not.toBe(store.birth);
    await commit(again, 8);
  });

  test('open() reports a loss until it is acknowledged', async () => {
    const name = freshName();
    const marker = new MemoryMarker(JSON.stringify({ birth: 'former', head: 99 }));
    for (let times = 0; times < 2; times += 1) {
      const store = await open(name, { marker });
      expect(store.loss).toEqual({ kind: 'recreated', lastHead: 99 });
      await store.close();
    }
    const store = await open(name, { marker });
    await store.acknowledgeLoss();
    expect(store.loss).toBeUndefined();
    await commit(store, 3);
    await store.close();
    expect((await open(name, { marker })).loss).toBeUndefined();
  });

  test('open() reports no loss when the marker outside the database is missing or malformed', async () => {
    for (const text of [undefined, '', '{"birth":', '[]', '{"birth":1,"head":2}'])
      expect((await open(freshName(), { marker: new MemoryMarker(text) })).loss).toBeUndefined();
  });

  test('open() reports that the database was rolled back to an earlier state', async () => {
    const name = freshName();
    const marker = new MemoryMarker();
    const store = await open(name, { marker });
    await commit(store, 5);
    await store.close();
    expect(JSON.parse(marker.text ?? '')).toEqual({ birth: store.birth, head: 5 });
    marker.text = JSON.stringify({ birth: store.birth, head: 9 });
    const again = await open(name, { marker });
    expect(again.loss).toEqual({ kind: 'rolled-back', lastHead: 9, head: 5 });
    await again.acknowledgeLoss();
    await again.close();
    expect((await open(name, { marker })).loss).toBeUndefined();
  });

  test('open() reports that the database is not the one of the marker', async () => {
    const name = freshName();
    const marker = new MemoryMarker();
    const store = await open(name, { marker });
    await commit(store, 5);
    await store.close();
    marker.text = JSON.stringify({ birth: 'another', head: 2 });
    expect((await open(name, { marker })).loss).toEqual({ kind: 'recreated', lastHead: 2 });
  });

  test('open() refuses a database with an emptied object store', async () => {
    const name = freshName();
    const store = await open(name);
    await commit(store, 5);
    await store.close();
    for (const space of kind === 'rows' ? ['meta', 'documents'] : ['blocks', 'commits', 'log']) {
      await clear(name, space);
      await expect(open(name)).rejects.toMatchObject({ code: 'local_data_loss' });
    }
    await destroyStore(name, { marker: null });
    expect(await headOfStore(await open(name))).toBeUndefined();
  });

  test.runIf(kind === 'rows')(
    'write() is refused when the object store `meta` was emptied after opening',
    async () => {
      const name = freshName();
      const store = await open(name);
      await commit(store, 5);
      await clear(name, 'meta');
      await expect(increment(store)).rejects.toMatchObject({ code: 'local_data_loss' });
    },
  );

  test('open() reports no loss after destroy()', async () => {
    const name = freshName();
    const marker = new MemoryMarker();
    const store = await open(name, { marker, checkpointMs: 0 });
    await commit(store, 5);
    await store.destroy();
    expect(marker.text).toBeUndefined();
    const again = await open(name, { marker });
    expect(again.loss).toBeUndefined();
    expect(await headOfStore(again)).toBeUndefined();
  });

  test('a tab does not write its marker again after another tab has deleted the database', async () => {
    const name = freshName();
    const marker = await openOutsideMarker(name);
    if (!marker) throw new Error('this browser keeps no marker');
    let letGo = (): void => undefined;
    const turn = new Promise<void>((resolve) => (letGo = resolve));
    let onWrite = (): void => undefined;
    const writing = new Promise<void>((resolve) => (onWrite = resolve));
    const ends: string[] = [];
    const store = await open(name, {
      marker: {
        ...marker,
        // Writes only when the database has already been deleted.
        async write(...written) {
          onWrite();
          await turn;
          await marker.write(...written);
        },
      },
      checkpointMs: 0,
      onEnd: (end) => ends.push(end),
    });
    await commit(store, 5);
    await writing;
    await destroyStore(name, { marker });
    expect(ends).toEqual(['deleted by another tab']);
    letGo();
    await store.close();
    expect(await marker.read()).toBeUndefined();
    expect((await open(name, { marker })).loss).toBeUndefined();
  });

  test('tabs that open a new database at once agree on one birth', async () => {
    const name = freshName();
    const stores = await Promise.all([open(name), open(name), open(name)]);
    expect(new Set(stores.map((store) => store.birth)).size).toBe(1);
    await Promise.all(stores.map((store) => commit(store, 1)));
  });

  test('open() refuses a database with the other layout, and does not disturb tabs that have it open', async () => {
    const name = freshName();
    const ends: string[] = [];
    const store = await open(name, { onEnd: (end) => ends.push(end) });
    await commit(store, 5);
    const opening = OPEN[kind === 'rows' ? 'packed' : 'rows'](name);
    await expect(opening).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining(`made with the option store: '${kind}'`),
    });
    await commit(store, 6);
    expect(ends).toEqual([]);
    await store.close();
    expect(await headOfStore(await open(name))).toBe('{"ts":6}');
  });
});

const open = (name: string, more: Partial<IndexedDbStoreOptions> = {}): Promise<BrowserStore> =>
  keep(openIndexedDbStore(name, storeOptions(more)));

test('open() as packed rolls back its upgrade when it finds a database stored as rows', async () => {
  const name = freshName();
  const store = await open(name);
  await commit(store, 5);
  await store.close();
  vi.spyOn(indexedDB, 'databases').mockResolvedValueOnce([]);
  await expect(OPEN.packed(name)).rejects.toThrow(`made with the option store: 'rows'`);
  expect(await headOfStore(await open(name))).toBe('{"ts":5}');
});

test('open() is refused and leaves no marker when another tab deletes the database during it', async () => {
  const name = freshName();
  const marker = new MemoryMarker();
  const connection = new ReconnectingConnection(
    name,
    ROWS_LAYOUT,
    ROWS_FORMAT,
    storeOptions({ marker }),
  );
  const opening = connection.open(async (opened) => {
    await deleteDatabase(name);
    connection.use(opened, connection.birth);
    return { birth: connection.birth.birth, head: 0 };
  });
  await expect(opening).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('deleted in another tab'),
  });
  expect(marker.text).toBeUndefined();
});

test('open() and write() refuse rows of a newer format', async () => {
  const name = freshName();
  const store = await open(name);
  await commit(store, 4);
  await raiseFormat(name);
  await expect(increment(store)).rejects.toThrow(/newer version/u);
  await expect(commit(store, 5)).rejects.toThrow(/newer version/u);
  await store.close();
  await expect(open(name)).rejects.toThrow(/newer version/u);
});

test('openOutsideMarker() keeps a text in a file, or in a cache where there are no files', async () => {
  for (const hasFiles of [true, false]) {
    // A browser may lack the origin private file system.
    if (!hasFiles) vi.stubGlobal('FileSystemFileHandle', undefined);
    const marker = await openOutsideMarker('a/strange name');
    expect(marker).toBeDefined();
    expect(await marker?.read()).toBeUndefined();
    await marker?.write('one, and long', () => true);
    await marker?.write('two', () => true);
    expect(await (await openOutsideMarker('a/strange name'))?.read()).toBe('two');
    await marker?.remove();
    await marker?.remove();
    expect(await marker?.read()).toBeUndefined();
  }
});

test('openStoredDatabase() notices an eviction with its own marker', async ({ skip }) => {
  skip(withoutProtocol !== undefined, withoutProtocol);
  const name = freshName();
  const database = await openStoredDatabase(openOptions(name), HANDLERS);
  await database.store.close();
  const again = await openStoredDatabase(openOptions(name), HANDLERS);
  expect(again.birth).toBe(database.birth);
  expect(again.loss).toBeUndefined();
  await again.store.close();
  await evictIndexedDb();
  const third = await openStoredDatabase(openOptions(name), HANDLERS);
  expect(third.loss).toEqual({ kind: 'recreated', lastHead: 0 });
  await third.acknowledgeLoss();
  await third.destroy();
});

test('probePersistence() returns a value that this browser can have', async () => {
  const answers = 'storage' in navigator ? ['persistent', 'best-effort'] : ['unknown'];
  expect(answers).toContain(await probePersistence());
});

test('probePersistence() returns unknown without navigator.storage', async () => {
  vi.stubGlobal('navigator', {});
  expect(await probePersistence()).toBe('unknown');
});

test('probePersistence() recognizes a private window by its refusal of files', async () => {
  const getDirectory = () => Promise.reject(new DOMException('', 'SecurityError'));
  vi.stubGlobal('navigator', {
    storage: { persisted: () => Promise.resolve(false), getDirectory },
  });
  expect(await probePersistence()).toBe('session');
});

const HANDLERS = { onClosed: () => undefined, leaseTerm: () => undefined };
const openOptions = (name: string): Parameters<typeof openStoredDatabase>[0] => ({
  name,
  aliveLock: name,
  settings: { store: 'rows' },
});

const HEAD = metaKey('head');

function commit(store: Store, ts: number): Promise<void> {
  return store.write(
    async (tx) =>
      tx.apply({
        puts: [
          { space: 'meta', row: { key: HEAD, entries: [], value: JSON.stringify({ ts }) } },
          { space: 'documents', row: { key: 'd' as Key, entries: [], value: 'd' } },
        ],
        deletes: [],
      }),
    { durability: 'strict' },
  );
}

/** Commits as an engine does: reads the head in the same transaction. */
function increment(store: Store): Promise<void> {
  return store.write(
    async (tx) => {
      const found = await tx.fetch([{ space: 'meta', key: HEAD }], []);
      const value = JSON.stringify({ ts: headOf(found.rows[0]) + 1 });
      tx.apply({ puts: [{ space: 'meta', row: { key: HEAD, entries: [], value } }], deletes: [] });
    },
    { durability: 'relaxed' },
  );
}

const headOfStore = (store: Store): Promise<unknown> =>
  store.read(async (tx) => (await tx.fetch([{ space: 'meta', key: HEAD }], [])).rows[0]?.value);

/** Clears one object store, as a browser that lost some of its files may do. */
const clear = (name: string, space: string): Promise<void> =>
  inStores(name, [space], (store) => store.clear());

/** Raises the format in each stamp, and in the mark of each row of `meta`, as a newer version of the app does. */
const raiseFormat = (name: string): Promise<void> =>
  inStores(name, SPACES, (store) =>
    store.openCursor().addEventListener('success', ({ target }) => {
      const { result: cursor } = target as IDBRequest<IDBCursorWithValue | null>;
      const row = cursor?.value as { readonly c?: string } | undefined;
      if (cursor?.key === STAMP_KEY) cursor.update({ ...row, format: ROWS_FORMAT + 1 });
      else if (row?.c !== undefined) cursor?.update({ ...row, c: row.c.replace('.1.', '.2.') });
      cursor?.continue();
    }),
  );

/** Changes object stores, unnoticed by tabs that have the database open. */
async function inStores(
  name: string,
  stores: readonly string[],
  change: (store: IDBObjectStore) => unknown,
): Promise<void> {
  const request = indexedDB.open(name);
  const idb = await new Promise<IDBDatabase>((resolve) => {
    request.addEventListener('success', () => resolve(request.result));
  });
  const transaction = idb.transaction(stores, 'readwrite');
  for (const store of stores) change(transaction.objectStore(store));
  await new Promise((resolve) => transaction.addEventListener('complete', resolve));
  idb.close();
}
