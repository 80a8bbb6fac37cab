/** Proves L7 and L9: threats-and-faults.md, F9, F11-F15. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { metaKey, type Key } from '../../src/codec/key.ts';
import { headOf } from '../../src/engine/transactions.ts';
import type { Store } from '../../src/store/port.ts';
import { migrationsOf, type Migration } from './migrations.ts';
import { openIndexedDbStore } from './open-layout.ts';
import { destroyIndexedDbStore, openStoredDatabase } from './open-store.ts';
import type { BrowserStore } from './browser-store.ts';
import type { IndexedDbStoreOptions } from './indexed-db-store.ts';
import { openOutsideMarker } from './outside-marker.ts';
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

describe.each(STORE_KINDS)('%s', (kind) => {
  const open = (name: string, more: StoreOptions = {}): Promise<BrowserStore> =>
    keep(OPEN[kind](name, more));

  test('write() refuses when the database was evicted while it was open, and the next open tells', async ({
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

  test('open() tells of a loss until it is acknowledged', async () => {
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

  test('open() takes a database as new when nothing outside tells of a former one', async () => {
    for (const text of [undefined, '', '{"birth":', '[]', '{"birth":1,"head":2}'])
      expect((await open(freshName(), { marker: new MemoryMarker(text) })).loss).toBeUndefined();
  });

  test('open() tells that the database went back to an earlier state', async () => {
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

  test('open() tells that the database is another one', async () => {
    const name = freshName();
    const marker = new MemoryMarker();
    const store = await open(name, { marker });
    await commit(store, 5);
    await store.close();
    marker.text = JSON.stringify({ birth: 'another', head: 2 });
    expect((await open(name, { marker })).loss).toEqual({ kind: 'recreated', lastHead: 2 });
  });

  test('open() refuses a database of which a part is gone', async () => {
    const name = freshName();
    const store = await open(name);
    await commit(store, 5);
    await store.close();
    for (const space of kind === 'rows' ? ['meta', 'documents'] : ['blocks', 'commits', 'log']) {
      await clear(name, space);
      await expect(open(name)).rejects.toMatchObject({ code: 'local_data_loss' });
    }
    await destroyIndexedDbStore(name, { marker: null });
    expect(await headOfStore(await open(name))).toBeUndefined();
  });

  test.runIf(kind === 'rows')(
    'write() refuses when the database under it is not the one that was opened',
    async () => {
      const name = freshName();
      const store = await open(name);
      await commit(store, 5);
      await clear(name, 'meta');
      await expect(increment(store)).rejects.toMatchObject({ code: 'local_data_loss' });
    },
  );

  test('destroy() leaves nothing that would be taken for a loss', async () => {
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

  test('two tabs that open at once agree on one birth', async () => {
    const name = freshName();
    const stores = await Promise.all([open(name), open(name), open(name)]);
    expect(new Set(stores.map((store) => store.birth)).size).toBe(1);
    await Promise.all(stores.map((store) => commit(store, 1)));
  });

  test('open() refuses what was made with the other layout, and harms nobody', async () => {
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

test('open() takes back what an upgrade would do to a database of rows that came meanwhile', async () => {
  const name = freshName();
  const store = await open(name);
  await commit(store, 5);
  await store.close();
  vi.spyOn(indexedDB, 'databases').mockResolvedValueOnce([]);
  await expect(OPEN.packed(name)).rejects.toThrow(`made with the option store: 'rows'`);
  expect(await headOfStore(await open(name))).toBe('{"ts":5}');
});

test('open() migrates step by step, and goes on where it was interrupted', async () => {
  const name = freshName();
  const first = await open(name);
  await commit(first, 5);
  await first.close();
  const noteStep =
    (step: string): Migration =>
    async (tx) => {
      const found = await tx.fetch([{ space: 'meta', key: STEPS }], []);
      const value = `${String(found.rows[0]?.value ?? '')}${step}`;
      tx.apply({ puts: [{ space: 'meta', row: { key: STEPS, entries: [], value } }], deletes: [] });
    };
  const broken: Migration = async (tx) => {
    await noteStep('broken')(tx);
    throw new Error('no further');
  };
  await expect(open(name, { migrations: migrationsOf([noteStep('1'), broken]) })).rejects.toThrow(
    'no further',
  );
  const migrations = [noteStep('1'), noteStep('2'), noteStep('3')];
  for (let times = 0; times < 2; times += 1) {
    const store = await open(name, { migrations: migrationsOf(migrations) });
    expect(await valueOf(store, STEPS)).toBe('123');
    expect(await headOfStore(store)).toBe('{"ts":5}');
    await store.close();
  }
  await expect(open(name, { migrations: migrationsOf(migrations.slice(1)) })).rejects.toThrow(
    /newer version/u,
  );
});

test('write() refuses once a newer version of the app has migrated the data', async () => {
  const name = freshName();
  const store = await open(name);
  await commit(store, 4);
  const newer = await open(name, { migrations: migrationsOf([async () => undefined]) });
  await expect(increment(store)).rejects.toThrow(/newer version/u);
  await expect(commit(store, 5)).rejects.toThrow(/newer version/u);
  await increment(newer);
  expect(await headOfStore(newer)).toBe('{"ts":5}');
});

test('openOutsideMarker() keeps a text, here and in a cache', async () => {
  for (const hasFiles of [true, false]) {
    // A browser may have no such files at all.
    if (!hasFiles) vi.stubGlobal('FileSystemFileHandle', undefined);
    const marker = await openOutsideMarker('a/strange name');
    expect(marker).toBeDefined();
    expect(await marker?.read()).toBeUndefined();
    await marker?.write('one, and long');
    await marker?.write('two');
    expect(await (await openOutsideMarker('a/strange name'))?.read()).toBe('two');
    await marker?.remove();
    await marker?.remove();
    expect(await marker?.read()).toBeUndefined();
  }
});

test('openDexieDatabase() keeps its birth outside by itself', async ({ skip }) => {
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

test('probePersistence() answers', async () => {
  const answers = 'storage' in navigator ? ['persistent', 'best-effort'] : ['unknown'];
  expect(answers).toContain(await probePersistence());
});

test('probePersistence() promises nothing of a browser that cannot be asked', async () => {
  vi.stubGlobal('navigator', {});
  expect(await probePersistence()).toBe('unknown');
});

test('probePersistence() knows a private window by the files it refuses', async () => {
  const getDirectory = () => Promise.reject(new DOMException('', 'SecurityError'));
  vi.stubGlobal('navigator', {
    storage: { persisted: () => Promise.resolve(false), getDirectory },
  });
  expect(await probePersistence()).toBe('session');
});

const HANDLERS = { onClosed: () => undefined, aloneTerm: () => undefined };
const openOptions = (name: string): Parameters<typeof openStoredDatabase>[0] => ({
  name,
  aliveLock: name,
  settings: { store: 'rows' },
});

const HEAD = metaKey('head');
const STEPS = metaKey('steps');

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

/** As an engine commits: it reads the head in the same transaction. */
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

const headOfStore = (store: Store): Promise<unknown> => valueOf(store, HEAD);

const valueOf = (store: Store, key: Key): Promise<unknown> =>
  store.read(async (tx) => (await tx.fetch([{ space: 'meta', key }], [])).rows[0]?.value);

/** What a browser that lost some of its files may leave. */
async function clear(name: string, space: string): Promise<void> {
  const request = indexedDB.open(name);
  const idb = await new Promise<IDBDatabase>((resolve) => {
    request.addEventListener('success', () => resolve(request.result));
  });
  const transaction = idb.transaction(space, 'readwrite');
  transaction.objectStore(space).clear();
  await new Promise((resolve) => transaction.addEventListener('complete', resolve));
  idb.close();
}
