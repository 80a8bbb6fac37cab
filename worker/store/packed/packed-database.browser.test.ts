import { afterEach, expect, test, vi } from 'vitest';
import { keyOfBytes } from '../../../src/codec/key.ts';
import { SMALL } from '../../../src/packed/testing/packed-kit.ts';
import type { Row, Store } from '../../../src/store/port.ts';
import { describeStore } from '../../../src/store/store.contract.ts';
import {
  at,
  COUNTER,
  counterOf,
  everything,
  increment,
  inRange,
  put,
  RELAXED,
  row,
  sequence,
} from '../../../src/store/testing/store-rows.ts';
import { atCommit, loseConnection, withFault, type Call } from '../../testing/idb-faults.ts';
import { rawOpen } from '../../testing/raw-database.ts';
import { OPEN, type StoreOptions } from '../../testing/store-kinds.ts';
import { freshName, storeOptions } from '../../testing/store-kit.ts';
import { readLock } from '../../lock/lock.ts';
import type { BrowserStore } from '../browser-store.ts';
import { openPackedDatabase } from '../open-layout.ts';
import type { StoredPart } from './stored-part.ts';

describeStore('openPackedDatabase()', (name) => OPEN.packed(`packed ${name}`));
describeStore('openPackedDatabase() that flushes and merges all the time', (name) =>
  OPEN.packed(`small ${name}`, { limits: SMALL }),
);

/** Mode and first object store of each transaction on log or blocks that begins while the body runs. */
async function transactionsIn(body: () => Promise<void>): Promise<(readonly string[])[]> {
  const begun: (readonly string[])[] = [];
  const after = ({ name }: Call, result: unknown): void => {
    if (name !== 'transaction' || !(result instanceof IDBTransaction)) return;
    const { mode, objectStoreNames } = result;
    const seen = ['commits', 'blocks'].find((each) => objectStoreNames.contains(each));
    if (seen !== undefined) begun.push([mode, seen]);
  };
  await withFault({ after }, body);
  return begun;
}

const opened: BrowserStore[] = [];
const open = async (name: string, more: StoreOptions = {}): Promise<BrowserStore> => {
  const store = await OPEN.packed(name, more);
  opened.push(store);
  return store;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.destroy()));
});

test('a commit whose answer was lost is found by its record, even if another tab has written since', async () => {
  const name = freshName();
  const [store, other] = [await open(name), await open(name)];
  for (const round of sequence(5)) {
    let isFirst = true;
    await withFault(
      atCommit((transaction) => {
        if (isFirst) transaction.dispatchEvent(new Event('abort'));
        isFirst = false;
      }),
      async () => {
        await Promise.all([increment(store), increment(other)]);
      },
    );
    expect(await counterOf(store)).toBe(2 * (round + 1));
  }
});

test('a commit in progress when the store is closed is reported as stored', async () => {
  const name = freshName();
  const store = await open(name);
  await increment(store);
  let closing: Promise<void> | undefined;
  await withFault(
    atCommit(() => {
      closing ??= store.close();
    }),
    () => increment(store),
  );
  await closing;
  expect(await counterOf(await open(name))).toBe(2);
});

test('a commit that got another number than expected does not count, and is made again', async () => {
  const name = freshName();
  const store = await open(name);
  for (const _ of sequence(4)) await increment(store);
  const { n: _, ...last } = (await partsIn(name)).at(-1) ?? { n: 0, v: new Uint8Array(), c: '' };
  // As left by another tab whose append came too late.
  await inRaw(name, (log) => log.add({ ...last, e: 1 }));
  await increment(store);
  const parts = await partsIn(name);
  expect(parts.slice(-4).map(({ n, e }) => n - Number(e))).toEqual([0, 4, 1, 0]);
  expect(await counterOf(store)).toBe(5);
  await store.close();
  expect(await counterOf(await open(name))).toBe(5);
});

test('read() with allowsStale shows what another tab has broadcast, without a transaction', async () => {
  const name = freshName();
  const [store, other] = [await open(name), await open(name)];
  await increment(store);
  const lookedAt = await transactionsIn(async () => {
    await vi.waitFor(async () => {
      const { rows } = await other.read((tx) => tx.fetch([COUNTER], []), { allowsStale: true });
      expect(rows[0]?.value).toBe('1');
    });
  });
  expect(lookedAt).toEqual([]);
});

test('opening a stored database takes two transactions, and reading its head and lock takes none', async () => {
  const name = freshName();
  const store = await open(name);
  await increment(store);
  await store.close();
  const took = await transactionsIn(async () => {
    expect(await readLock(await open(name))).toBe('open');
  });
  expect(took).toEqual([
    // Dexie checks which object stores exist.
    ['readonly', 'commits'],
    ['readwrite', 'commits'],
    ['readonly', 'commits'],
  ]);
});

test('write() says "may or may not be stored" when its answer is lost and its record was cut from the log', async () => {
  const name = freshName();
  const store = await open(name);
  await increment(store);
  const isLost = signal();
  let isFirst = true;
  await withFault(
    atCommit((transaction) => {
      if (!isFirst) return;
      isFirst = false;
      transaction.dispatchEvent(new Event('abort'));
      isLost.resolve();
    }),
    async () => {
      const cutting = isLost.promise.then(() => cutLog(name));
      const [reason] = await Promise.all([
        increment(store).catch((each: unknown) => each),
        cutting,
      ]);
      expect(reason).toMatchObject({
        code: 'storage_unavailable',
        message: expect.stringContaining('may or may not be stored'),
      });
    },
  );
});

test('write() refuses a log of another database or of a newer version of the app', async () => {
  for (const [prefix, code] of [
    ['', 'local_data_loss'],
    ['own', 'storage_unavailable'],
  ] as const) {
    const name = freshName();
    const ends: string[] = [];
    const store = await open(name, { onEnd: (end) => ends.push(end) });
    await increment(store);
    const commit = prefix === 'own' ? `${store.birth}.2.someone-1` : 'another.1.someone-1';
    await inRaw(name, (log) => log.add({ v: new Uint8Array(9), c: commit }));
    await expect(increment(store)).rejects.toMatchObject({ code });
    await expect(counterOf(store)).rejects.toMatchObject({ code });
    expect(ends).toEqual([prefix === 'own' ? 'upgraded by another tab' : 'lost']);
  }
});

test('what another script has added to the log is skipped', async () => {
  const name = freshName();
  const store = await open(name);
  await increment(store);
  for (const value of [{}, { v: 'text' }, { v: new Uint8Array(5), c: 1 }])
    await inRaw(name, (log) => log.add(value));
  await increment(store);
  expect(await counterOf(store)).toBe(2);
  await store.close();
  expect(await counterOf(await open(name))).toBe(2);
});

test('write() refuses when the log was emptied', async () => {
  const name = freshName();
  const store = await open(name);
  await increment(store);
  await inRaw(name, (log) => {
    log.add({ v: new Uint8Array(9), c: '' });
    return log.clear();
  });
  await expect(increment(store)).rejects.toMatchObject({ code: 'local_data_loss' });
});

test('commits are flushed into blocks when the store is idle, and a store opened later finds them', async () => {
  const name = freshName();
  const store = await open(name, { limits: { commitsMax: 100 }, idleMs: 20 });
  const rows = sequence(30).map((i): Row => row(`row ${i}`, [`entry ${i}`]));
  for (const each of rows) await put(store, 'documents', [each]);
  await vi.waitUntil(async () => (await blocksOf(name)) > 1, { timeout: 60_000 });
  const before = await everything(store);
  expect(before.documents).toHaveLength(30);
  expect(await everything(await open(name))).toEqual(before);
});

test('stored data is read into memory after opening, so that later pages read no block', async () => {
  const name = freshName();
  const store = await open(name, { limits: { commitsMax: 100 }, idleMs: 20 });
  const rows = sequence(30).map((i): Row => row(`row ${i}`, [`entry ${i}`]));
  for (const each of rows) await put(store, 'documents', [each]);
  await vi.waitUntil(async () => (await blocksOf(name)) > 1, { timeout: 60_000 });
  await store.close();
  let reads = 0;
  const countReads = { before: (call: Call) => void (reads += call.store === 'blocks' ? 1 : 0) };
  await withFault(countReads, async () => {
    // Reads are counted before the database opens: on a busy machine all of them are done before open() resolves.
    const again = await open(name, { idleMs: 20 });
    // Entries and documents are prefetched, although no query has read one.
    await vi.waitUntil(() => reads >= 2, { timeout: 60_000 });
    // A read is counted when it is requested, so the last ones may still be in progress.
    await vi.waitFor(
      async () => {
        reads = 0;
        expect(await inRange(again, { by: 'entry', limit: 30 })).toHaveLength(30);
        expect(reads).toBe(0);
      },
      { timeout: 60_000 },
    );
  });
});

test('lost connections during flushes and merges lose no data', async () => {
  const store = await open(freshName(), { limits: SMALL });
  for (const round of sequence(12)) {
    await Promise.all([
      ...sequence(5).map((i) => put(store, 'documents', [row(`row ${round} ${i}`)])),
      increment(store),
      ...(round % 3 === 0 ? [loseConnection(store)] : []),
    ]);
  }
  expect(await counterOf(store)).toBe(12);
  expect((await everything(store)).documents).toHaveLength(60);
});

test('maybeFlush() repeats its claim when another tab was faster twice, the second time with a lost connection', async () => {
  const name = freshName();
  const store = await openPackedDatabase(name, { ...storeOptions(), limits: { commitsMax: 8 } });
  opened.push(store);
  await increment(store);
  const { n: _, ...late } = (await partsIn(name)).at(-1) ?? { n: 0, v: new Uint8Array(), c: '' };
  const idb = await rawOpen(name);
  const others = (): IDBTransaction => {
    const tx = idb.transaction('commits', 'readwrite');
    tx.objectStore('commits').add({ ...late, c: `${late.c}0`, e: 1 });
    return tx;
  };
  await new Promise((resolve) => others().addEventListener('complete', resolve));
  const calls: string[] = [];
  const before = ({ name: called, store: asked }: Call): void => {
    if (asked !== 'commits') return;
    calls.push(called);
    if (calls.join(' ') !== 'add getAll add') return;
    others();
    failWith('UnknownError');
  };
  await withFault({ before }, () => store.maybeFlush());
  idb.close();
  expect(calls.slice(0, 5)).toEqual(['add', 'getAll', 'add', 'add', 'get']);
  await store.close();
  const again = await openPackedDatabase(name, storeOptions({}));
  opened.push(again);
  expect(await counterOf(again)).toBe(1);
  expect(await again.verify()).toEqual([]);
});

test('the log is read in a transaction of its own, and reading it together with documents is refused', async () => {
  const store = await open(freshName());
  await put(store, 'log', [row('a')]);
  await put(store, 'files', [row('b')]);
  expect(await inRange(store, { space: 'log' })).toHaveLength(1);
  const both: Promise<unknown> = store.read((tx) => tx.fetch([], []), {
    spaces: ['documents', 'log'],
  });
  await expect(both).rejects.toThrow(/log and files have their own/u);
});

test('a tab that holds the lease again reads what other tabs have committed since', async () => {
  const name = freshName();
  let term: number | undefined = 1;
  const store = await open(name, { leaseTerm: () => term });
  const other: Store = await open(name);
  await increment(store);
  term = undefined;
  await increment(other);
  term = 2;
  expect(await counterOf(store)).toBe(2);
});

test('tabs that write at once lose nothing, even if the rows they read have to be loaded', async () => {
  const name = freshName();
  const [one, two] = [
    await open(name, { limits: SMALL }),
    await open(name, { limits: SMALL }),
  ] as const;
  await put(
    one,
    'documents',
    sequence(60).map((i) => row(`row ${i}`)),
  );
  await Promise.all(
    [one, two].map(async (store) => {
      for (const i of sequence(25)) {
        await increment(store);
        await store.write(async (tx) => {
          const found = await tx.fetch([at(`row ${i}`)], []);
          const { rows } = await tx.fetch([at(`row ${59 - i}`), COUNTER], []);
          const value = String(Number(rows[1]?.value) + 1);
          expect([found.rows[0]?.key, rows[0]?.key]).not.toContain(undefined);
          const next = { key: COUNTER.key, entries: [], value };
          tx.apply({ puts: [{ space: 'meta', row: next }], deletes: [] });
        }, RELAXED);
      }
    }),
  );
  for (const store of [one, two]) expect(await counterOf(store)).toBe(100);
});

test('a tab receives the commits of another tab', async () => {
  const name = freshName();
  const channel = new BroadcastChannel(`burrow:log:${name}`);
  const received = new Promise((resolve) =>
    channel.addEventListener('message', resolve, { once: true }),
  );
  const [store, other] = [await open(name), await open(name)];
  await increment(store);
  await received;
  await increment(other);
  await increment(store);
  expect(await counterOf(other)).toBe(3);
  channel.close();
});

test('a store that is reopened after many overwrites and flushes has all rows', async () => {
  const name = freshName();
  const store = await open(name, { limits: SMALL });
  for (const round of sequence(20)) await put(store, 'documents', [row(`row ${round % 7}`)]);
  await store.close();
  const again = await open(name, { limits: SMALL });
  expect((await everything(again)).documents.map(({ key }) => key)).toEqual(
    sequence(7).map((i) => keyOfBytes(`row ${i}`)),
  );
});

function failWith(name: string): never {
  throw new DOMException('Connection to Indexed Database server lost.', name);
}

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve: () => resolve() };
}

/** Runs a native transaction on the log, bypassing the store. */
async function inRaw<T>(name: string, body: (log: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return raw(name, 'commits', body);
}

/** The parts of the log, without the stamp. */
const partsIn = (name: string): Promise<StoredPart[]> =>
  inRaw(name, (log) => log.getAll(IDBKeyRange.lowerBound(1)));

const blocksOf = (name: string): Promise<number> => raw(name, 'blocks', (store) => store.count());

/** What another tab does that flushes the log and then appends another commit. */
const cutLog = (name: string): Promise<unknown> =>
  inRaw(name, (log) => {
    log.delete(IDBKeyRange.lowerBound(2));
    return log.add({ v: new Uint8Array(9), c: '' });
  });

async function raw<T>(
  name: string,
  store: string,
  body: (log: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const idb = await rawOpen(name);
  const tx = idb.transaction([store], 'readwrite');
  const request = body(tx.objectStore(store));
  await new Promise((resolve) => tx.addEventListener('complete', resolve));
  idb.close();
  return request.result;
}
