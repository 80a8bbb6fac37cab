/** Proves F4-F10 of the fault list as far as one page can: threats-and-faults.md, L1, L5, L8, L10. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { metaKey, type Key } from '../../src/codec/key.ts';
import { KeyTaken, type Row, type Space, type Store } from '../../src/store/port.ts';
import { Watchdog, type Waiting } from './watchdog.ts';
import type { BrowserStore } from './browser-store.ts';
import type { StoreKind } from './layouts.ts';
import { liftQuota, withoutProtocol, withQuota } from '../testing/browser-storage.ts';
import { atCommit, loseConnection, withFault } from '../testing/idb-faults.ts';
import { rawOpen } from '../testing/raw-database.ts';
import { OPEN, STORE_KINDS, type StoreOptions } from '../testing/store-kinds.ts';
import { freshName } from '../testing/store-kit.ts';

const opened: BrowserStore[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.destroy()));
});

describe.each(STORE_KINDS)('in the layout `%s`', (kind) => {
  const open = async (name = freshName(), more: StoreOptions = {}): Promise<BrowserStore> => {
    const store = await OPEN[kind](name, more);
    opened.push(store);
    return store;
  };

  test('write() commits once, on a new connection, when the former one was lost (F7)', async () => {
    const store = await open();
    await increment(store);
    await loseConnection(store);
    await increment(store);
    await loseConnection(store);
    expect(await state(store)).toEqual({ counter: 2, rows: 2 });
  });

  test('ten simultaneous writes after a lost connection are all committed once', async () => {
    const store = await open();
    await loseConnection(store);
    await Promise.all(Array.from({ length: 10 }, () => increment(store)));
    expect(await state(store)).toEqual({ counter: 10, rows: 10 });
  });

  test('write() commits once when any single IndexedDB call fails', async () => {
    const store = await open();
    const calls = await withFault({}, () => increment(store));
    expect(calls).toBeGreaterThanOrEqual(kind === 'rows' ? 6 : 2);
    for (let n = 1; n <= calls; n += 1) {
      const before = await state(store);
      await withFault({ before: ({ number }) => failAt(number === n) }, () => increment(store));
      expect(await state(store)).toEqual({ counter: before.counter + 1, rows: before.rows + 1 });
    }
  });

  test('write() commits once when the browser aborts the transaction after any call', async () => {
    const store = await open();
    const calls = await withFault({}, () => increment(store));
    for (let n = 2; n < calls; n += 1) {
      const before = await state(store);
      await withFault(
        { after: ({ number, transaction }) => number === n && transaction?.abort() },
        () => increment(store),
      );
      expect(await state(store)).toEqual({ counter: before.counter + 1, rows: before.rows + 1 });
    }
  });

  test('write() is refused and stores nothing when every call from the n-th on fails', async () => {
    const store = await open();
    await increment(store);
    const calls = await withFault({}, () => increment(store));
    const before = await state(store);
    for (let n = 1; n <= calls; n += 1) {
      await withFault({ before: ({ number }) => failAt(number >= n) }, async () => {
        await expect(increment(store)).rejects.toMatchObject({ code: 'storage_unavailable' });
      });
      expect(await state(store)).toEqual(before);
    }
  });

  test('read() is refused while the storage fails, and works again afterwards', async () => {
    const store = await open();
    await increment(store);
    await withFault({ before: () => failAt(true) }, async () => {
      await expect(state(store)).rejects.toMatchObject({ code: 'storage_unavailable' });
    });
    expect(await state(store)).toEqual({ counter: 1, rows: 1 });
  });

  test('write() commits once when the connection is lost after the commit', async () => {
    const store = await open();
    await increment(store);
    let isFirst = true;
    await withFault(
      atCommit((transaction) => {
        if (isFirst) loseAnswer(transaction);
        isFirst = false;
      }),
      () => increment(store),
    );
    expect(await state(store)).toEqual({ counter: 2, rows: 2 });
  });

  test('write() says "may or may not be stored" when its answer is lost and the storage then fails', async () => {
    const store = await open();
    await increment(store);
    let isGone = false;
    const { after } = atCommit((transaction) => {
      if (!isGone) loseAnswer(transaction);
      isGone = true;
    });
    await withFault({ before: () => failAt(isGone), ...(after && { after }) }, async () => {
      await expect(increment(store)).rejects.toMatchObject({
        code: 'storage_unavailable',
        message: expect.stringContaining('may or may not be stored'),
      });
    });
    expect(await state(store)).toEqual({ counter: 2, rows: 2 });
  });

  // A packed store has called `commit()` by then. What can be rolled back before that is tested above.
  test.runIf(kind === 'rows')(
    'write() commits once when the connection is lost before the commit',
    async () => {
      const store = await open();
      await increment(store);
      let isFirst = true;
      await withFault(
        atCommit((transaction) => {
          if (isFirst) transaction.abort();
          isFirst = false;
        }),
        () => increment(store),
      );
      expect(await state(store)).toEqual({ counter: 2, rows: 2 });
    },
  );

  test('write() with a lost answer finds its commit behind that of another tab; with rows, it is refused as uncertain', async () => {
    const name = freshName();
    const [store, other] = [await open(name), await open(name)];
    await increment(store);
    let isFirst = true;
    const writing = withFault(
      atCommit((transaction) => {
        if (isFirst) loseAnswer(transaction);
        isFirst = false;
      }),
      async () => {
        const lostAnswer = increment(store);
        const [reason] = await Promise.all([
          lostAnswer.catch((each: unknown) => each),
          increment(other),
        ]);
        // The record stays in the log, even if another tab has written since. With rows, only the last writer of the marked row is known.
        const ofRows = { code: 'storage_unavailable' };
        expect([reason]).toMatchObject([kind === 'rows' ? ofRows : undefined]);
      },
    );
    await writing;
    expect(await state(store)).toEqual({ counter: 3, rows: 3 });
  });

  test('write() asks the browser for the durability of the write (L4)', async () => {
    const store = await open();
    const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
    try {
      for (const durability of ['strict', 'relaxed'] as const) {
        const row = { key: metaKey(durability), entries: [], value: '1' };
        await store.write(async (tx) => tx.apply({ puts: [{ space: 'meta', row }], deletes: [] }), {
          durability,
          spaces: ['meta'],
        });
      }
      const writes = begun.mock.calls.filter(([, mode]) => mode === 'readwrite');
      expect(writes.map(([, , options]) => options?.durability)).toEqual(['strict', 'relaxed']);
    } finally {
      begun.mockRestore();
    }
  });

  test('write() stores nothing and rejects with quota_exceeded when there is no space', async ({
    skip,
  }) => {
    skip(withoutProtocol !== undefined, withoutProtocol);
    const noise = crypto.getRandomValues(new Uint8Array(60_000));
    const big = Array.from({ length: 100 }, (_, i): Row => {
      return { key: metaKey(`big${i}`), entries: [], value: noise.map((byte) => byte ^ i) };
    });
    const fill = (store: Store, space: Space): Promise<void> =>
      store.write(
        async (tx) => tx.apply({ puts: big.map((row) => ({ space, row })), deletes: [] }),
        { durability: 'strict', spaces: [space] },
      );
    await withQuota(1_000_000, async () => {
      const store = await open();
      await increment(store);
      for (const space of ['files', 'sync'] as const)
        await expect(fill(store, space)).rejects.toMatchObject({ code: 'quota_exceeded' });
      expect(await state(store)).toEqual({ counter: 1, rows: 1 });
      await liftQuota();
      for (const space of ['files', 'sync'] as const) await fill(store, space);
      await increment(store);
      expect(await state(store)).toEqual({ counter: 2, rows: 2 });
    });
  });

  test('write() rejects with KeyTaken and stores nothing when a row to be added exists already', async () => {
    const store = await open();
    await increment(store);
    const added = [1, 2].map((n): Row => ({ key: `row${n}` as Key, entries: [], value: 'added' }));
    const adding = store.write(
      async (tx) =>
        tx.apply({
          puts: [
            ...added.map((row) => ({ space: 'documents', row, isNew: true }) as const),
            { space: 'meta', row: { key: COUNTER, entries: [], value: '2' } },
          ],
          deletes: [],
        }),
      { durability: 'relaxed' },
    );
    await expect(adding).rejects.toBeInstanceOf(KeyTaken);
    expect(await state(store)).toEqual({ counter: 1, rows: 1 });
  });

  test('write() rejects when a request fails and the transaction has no error, as in WebKit', async () => {
    const store = await open();
    await increment(store);
    const withoutReason = Object.getOwnPropertyDescriptor(IDBTransaction.prototype, 'error');
    // WebKit: the transaction has no error, only the request has.
    Object.defineProperty(IDBTransaction.prototype, 'error', {
      configurable: true,
      get: () => null,
    });
    try {
      const clash: Row = { key: 'row1' as Key, entries: [], value: 'added' };
      const adding = store.write(
        async (tx) =>
          tx.apply({ puts: [{ space: 'documents', row: clash, isNew: true }], deletes: [] }),
        { durability: 'relaxed' },
      );
      await expect(adding).rejects.toBeInstanceOf(KeyTaken);
    } finally {
      if (withoutReason) Object.defineProperty(IDBTransaction.prototype, 'error', withoutReason);
    }
    expect(await state(store)).toEqual({ counter: 1, rows: 1 });
  });

  test('read() and write() reject with storage_blocked while another tab holds the database', async () => {
    const name = freshName();
    const watchdog = new SwitchedWatchdog();
    const store = await open(name, { watchdog });
    const release = watchdog.during(await holdStores(name, kind));
    await expect(state(store)).rejects.toMatchObject({ code: 'storage_blocked' });
    await expect(increment(store)).rejects.toMatchObject({ code: 'storage_blocked' });
    const row: Row = { key: 'row1' as Key, entries: ['e1' as Key], value: '1' };
    const asksNothing = store.write(
      async (tx) => tx.apply({ puts: [{ space: 'documents', row }], deletes: [] }),
      { durability: 'relaxed' },
    );
    await expect(asksNothing).rejects.toMatchObject({ code: 'storage_blocked' });
    release();
    expect(await state(store)).toEqual({ counter: 0, rows: 0 });
    await increment(store);
    expect(await state(store)).toEqual({ counter: 1, rows: 1 });
  });

  test('write() rejects with storage_blocked only if nothing of it is stored later', async () => {
    const name = freshName();
    const watchdog = new SwitchedWatchdog();
    const store = await open(name, { watchdog, leaseTerm: () => 1 });
    await increment(store);
    const release = watchdog.during(await holdStores(name, kind));
    const reason = await increment(store).catch((each: unknown) => each);
    release();
    const { counter } = await state(store);
    const code = counter > 1 ? 'storage_unavailable' : 'storage_blocked';
    expect(reason).toMatchObject({ code });
    await store.close();
  });

  // With rows, a row of `meta` shows whether the commit succeeded. A tab that writes to other object stores does not block reading it.
  test.runIf(kind === 'packed')(
    'write() does not reject with storage_blocked if an earlier try may have been stored',
    async () => {
      const name = freshName();
      const watchdog = new SwitchedWatchdog();
      const store = await open(name, { watchdog });
      await increment(store);
      const holder = await rawOpen(name);
      let release: (() => void) | undefined;
      const reasons: unknown[] = [];
      await withFault(
        atCommit((transaction) => {
          if (release) return;
          release = watchdog.during(hold(holder, ['commits', 'files']));
          loseAnswer(transaction);
        }),
        () => increment(store).catch((reason: unknown) => void reasons.push(reason)),
      );
      release?.();
      expect(reasons).toMatchObject([
        {
          code: 'storage_unavailable',
          message: expect.stringContaining('may or may not be stored'),
        },
      ]);
      expect(await state(store)).toEqual({ counter: 2, rows: 2 });
    },
  );

  test('open() rejects with storage_blocked when another tab does not close its connection (F8)', async () => {
    const name = freshName();
    const version = kind === 'rows' ? 1 : 30;
    const holder = await rawOpen(name, version);
    // This upgrade waits for the holder, and everyone else waits behind it.
    const upgrade = indexedDB.open(name, version + 1);
    await expect(open(name, { openDeadlineMs: 200 })).rejects.toMatchObject({
      code: 'storage_blocked',
    });
    holder.close();
    await new Promise((resolve) => upgrade.addEventListener('success', resolve));
    upgrade.result.close();
    await new Promise((resolve) =>
      indexedDB.deleteDatabase(name).addEventListener('success', resolve),
    );
    const store = await open(name);
    await increment(store);
    expect(await state(store)).toEqual({ counter: 1, rows: 1 });
  });

  test('a store closes when another tab deletes the database, and refuses later calls', async () => {
    const name = freshName();
    const ends: string[] = [];
    const [one, other] = [await open(name, { onEnd: (end) => ends.push(end) }), await open(name)];
    await other.destroy();
    await expect(increment(one)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(ends).toEqual(['deleted by another tab']);
  });

  test('a store closes when another tab upgrades the database, and refuses later calls', async () => {
    const name = freshName();
    const ends: string[] = [];
    const store = await open(name, { onEnd: (end) => ends.push(end) });
    (await rawOpen(name, 1_000)).close();
    await expect(increment(store)).rejects.toThrow(/newer version/u);
    expect(ends).toEqual(['upgraded by another tab']);
  });

  test.runIf(kind === 'rows')(
    'write() rejects and stores nothing when its body awaits anything but the transaction',
    async () => {
      const store = await open();
      const slow = store.write(
        async (tx) => {
          await tx.fetch([], []);
          await new Promise((resolve) => setTimeout(resolve, 50));
          tx.apply({
            puts: [{ space: 'meta', row: { key: COUNTER, entries: [], value: '9' } }],
            deletes: [],
          });
        },
        { durability: 'relaxed' },
      );
      await expect(slow).rejects.toThrow(
        /writes nothing after its body has ended|must await nothing/u,
      );
      expect(await state(store)).toEqual({ counter: 0, rows: 0 });
    },
  );
});

const COUNTER = metaKey('counter');

/** Increments the counter, and adds a row with that number. */
function increment(store: Store): Promise<void> {
  return store.write(
    async (tx) => {
      const counted = await tx.fetch([{ space: 'meta', key: COUNTER }], []);
      const count = Number(counted.rows[0]?.value ?? 0) + 1;
      const row: Row = {
        key: `row${count}` as Key,
        entries: [`e${count}` as Key],
        value: String(count),
      };
      tx.apply({
        puts: [
          { space: 'documents', row },
          { space: 'meta', row: { key: COUNTER, entries: [], value: String(count) } },
        ],
        deletes: [{ space: 'history', key: row.key }],
      });
    },
    { durability: 'relaxed' },
  );
}

function state(store: Store): Promise<{ counter: number; rows: number }> {
  return store.read(async (tx) => {
    const all = {
      space: 'documents',
      by: 'entry',
      lower: '' as Key,
      upper: '\xff' as Key,
      reverse: false,
      limit: 1000,
      rows: false,
    } as const;
    const found = await tx.fetch([{ space: 'meta', key: COUNTER }], [all]);
    return { counter: Number(found.rows[0]?.value ?? 0), rows: found.ranges[0]?.length ?? 0 };
  });
}

function failAt(isNow: boolean): void {
  if (isNow) throw new DOMException('Connection to Indexed Database server lost.', 'UnknownError');
}

/** The commit continues, but its completion is not reported. An abort event is dispatched instead, as when a connection dies. */
function loseAnswer(transaction: IDBTransaction): void {
  transaction.dispatchEvent(new Event('abort'));
}

/**
 * Gives up soon while another tab holds the database, and late at other times: on a busy machine, requests that nobody blocks must be
 * answered in time.
 */
class SwitchedWatchdog extends Watchdog {
  private readonly quick = new Watchdog(50);
  private isQuick = false;

  constructor() {
    super(500);
  }

  /** @param release ends the time in which the database is held @returns the function to call instead */
  during(release: () => void): () => void {
    this.isQuick = true;
    return () => {
      this.isQuick = false;
      release();
    };
  }

  override add(waiting: Waiting): void {
    if (this.isQuick) this.quick.add(waiting);
    else super.add(waiting);
  }

  override delete(waiting: Waiting): void {
    this.quick.delete(waiting);
    super.delete(waiting);
  }
}

/** A write transaction that does not end, as in a tab that was suspended. */
async function holdStores(name: string, kind: StoreKind): Promise<() => void> {
  const own = kind === 'rows' ? ['documents', 'history'] : ['commits', 'blocks'];
  return hold(await rawOpen(name), ['meta', 'log', 'files', ...own]);
}

function hold(idb: IDBDatabase, stores: readonly string[]): () => void {
  const store = idb.transaction(stores, 'readwrite').objectStore('files');
  let isHeld = true;
  const again = (): void => {
    if (isHeld) store.get('nothing').addEventListener('success', again);
    else idb.close();
  };
  again();
  return () => {
    isHeld = false;
  };
}
