/** A store that is open in this thread is opened again, as a thread for long queries does. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { RandomSource, seedOf } from '../../src/engine/testing/random-source.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { hashOfRootSecret } from '../../src/engine/access.ts';
import { detachedExecutions, HEAD } from '../../src/engine/transactions.ts';
import type { Store } from '../../src/store/port.ts';
import { describeStore } from '../../src/store/store.contract.ts';
import { createHubEngine, sha256 } from '../instance/hub-engine.ts';
import { openHub } from '../instance/open-hub.ts';
import { BorrowedDatabase } from '../sql/borrowed-database.ts';
import { LentDatabase } from '../sql/lent-database.ts';
import { sharedDatabases } from '../testing/hub-stores.ts';
import { prepareFolder } from '../testing/prepared-pglite.ts';
import { DEFAULT_SETTINGS } from '../settings/settings.ts';
import { openBorrowedStore, type BorrowedStore } from './borrowed-store.ts';
import { openHubStore, type StoreLoan } from './open-store.ts';
import { openTables } from './sql-tables.ts';

const { pglite } = sharedDatabases();

describeStore('openBorrowedStore() of PGlite', async (tenant) => {
  const { port1, port2 } = new MessageChannel();
  const lent = new LentDatabase({
    database: await pglite(),
    port: port1,
    onCommitted: () => undefined,
    recover: () => Promise.resolve(),
  });
  const borrowed = await openBorrowedStore({ tenant, port: port2 });
  return {
    read: (body, options) => borrowed.store.read(body, options),
    write: (body, options) => borrowed.store.write(body, options),
    async close() {
      await borrowed.close();
      await lent.end();
    },
  };
});

const SECRET = 'burrow-root-of-a-test-hub-which-is-known';
const settings = { ...DEFAULT_SETTINGS, rootSecret: SECRET, hashCost: 4, queryThreads: 0 };
const raise = (reason: unknown): never => {
  throw reason;
};

const engineOn = (store: Store): Engine =>
  createHubEngine(settings, {
    url: () => undefined,
    rootHash: hashOfRootSecret(SECRET, sha256),
    store,
    passwords: { hash: async () => '', verify: async () => false },
    detached: detachedExecutions,
  }).engine;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function open() {
  const data = await prepareFolder(await mkdtemp(join(tmpdir(), 'burrow-borrowed-')));
  closing.push(() => rm(data, { recursive: true, force: true }));
  const storage = await openHubStore({ at: { data } });
  const hub = await openHub(storage, settings, raise);
  closing.push(() => hub.close());
  const borrow = async () => {
    const loan = storage.lend();
    const borrowed = await openBorrowedStore(loan.access);
    const engine = engineOn(borrowed.store);
    engine.onCommit((notice) => borrowed.announce(notice));
    return { loan, borrowed, engine };
  };
  await run(hub.engine, { create_collection: { object: { name: 'counters' } } });
  for (const id of ['1', '2']) await run(hub.engine, counter('create', id, 0));
  return { storage, hub, borrow };
}

const ref = (id: string) => ({ ref: { collection: 'counters' }, id });
const valueOf = (id: string) => ({ select: ['data', 'n'], from: { get: ref(id) } });
const counter = (write: 'create' | 'update', id: string, n: unknown) => ({
  [write]: ref(id),
  params: { object: { data: { object: { n } } } },
});
const adding = (id: string, n: number) => counter('update', id, { add: [valueOf(id), n] });

async function run(engine: Engine, query: unknown): Promise<unknown> {
  const answer = await engine.query({
    secret: SECRET,
    query: JSON.stringify(query),
    apiVersion: '4',
    allows: 'write',
  });
  expect([200, 201], answer.body).toContain(answer.status);
  return (JSON.parse(answer.body) as { readonly resource: unknown }).resource;
}

/** Closes both at the end of the test. */
const ending = ({ loan, borrowed }: { loan: StoreLoan; borrowed: BorrowedStore }): void =>
  void closing.push(async () => {
    await borrowed.close();
    await loan.end();
  });

test('three engines on one embedded database lose no update, and each sees acknowledged writes', async () => {
  const random = new RandomSource(seedOf('BURROW_SEED'));
  const { hub, borrow } = await open();
  const borrowers = [await borrow(), await borrow()];
  borrowers.forEach(ending);
  const engines = [hub.engine, ...borrowers.map(({ engine }) => engine)];
  const acknowledged = { 1: 0, 2: 0 };
  /** Reads that did not see writes acknowledged before them. */
  const stale: unknown[] = [];
  const actors = engines.map(async (engine) => {
    for (let i = 0; i < 60; i += 1) {
      const id = random.pick([1, 2] as const);
      const before = acknowledged[id];
      if (random.chance(1 / 3)) {
        const found = await run(engine, valueOf(String(id)));
        if (Number(found) < before) stale.push({ found, before });
      } else {
        await run(engine, adding(String(id), 1));
        acknowledged[id] += 1;
      }
    }
  });
  await Promise.all(actors);
  expect(stale).toEqual([]);
  for (const engine of engines)
    for (const id of [1, 2] as const)
      expect(await run(engine, valueOf(String(id)))).toBe(acknowledged[id]);
  expect(await hub.engine.verify()).toEqual([]);
});

test('the transaction of a thread that ends is rolled back, and other writes continue', async () => {
  const { storage, hub, borrow } = await open();
  const { loan, borrowed } = await borrow();
  let isHeld = false;
  void borrowed.store
    .write(
      async (tx) => {
        await tx.fetch([HEAD], []);
        isHeld = true;
        // The transaction never ends.
        await new Promise(() => undefined);
      },
      { spaces: ['meta', 'documents', 'history'], durability: 'strict' },
    )
    .catch(() => undefined);
  await expect.poll(() => isHeld).toBe(true);
  const waiting = run(hub.engine, adding('1', 1));
  await loan.end();
  await waiting;
  expect(await run(hub.engine, valueOf('1'))).toBe(1);
  expect(storage.lease?.term()).toBe(1);
});

test('a commit is announced even if its thread ended before announcing it', async () => {
  const { storage, hub, borrow } = await open();
  expect(await run(hub.engine, valueOf('1'))).toBe(0);
  const heads: number[] = [];
  hub.onCommit(({ ts }) => heads.push(ts));
  const loan = storage.lend();
  const { access } = loan;
  if (!('port' in access)) throw new Error('PGlite is lent by a port.');
  const database = new BorrowedDatabase(access.port);
  let isWriting = false;
  const store = await openTables(
    {
      isExclusive: true,
      roundTrips: 0,
      listen: () => undefined,
      close: () => database.close(),
      async connect() {
        const connection = await database.connect();
        return {
          run: (statements) => connection.run(statements),
          // The thread ends before it releases the connection of its write.
          release: () => (isWriting ? undefined : connection.release()),
        };
      },
    },
    access.tenant,
  );
  const engine = engineOn({
    read: (body, options) => store.read(body, options),
    write(body, options) {
      isWriting = true;
      return store.write(body, options);
    },
    close: () => Promise.resolve(),
  });
  await run(engine, adding('1', 1));
  const asked = run(hub.engine, adding('1', 1));
  await loan.end();
  await asked;
  expect(await run(hub.engine, valueOf('1'))).toBe(2);
  expect(heads).toHaveLength(2);
  const other = await borrow();
  ending(other);
  expect(await run(other.engine, valueOf('1'))).toBe(2);
});
