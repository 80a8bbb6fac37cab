import { expect, test } from 'vitest';
import { EngineWorld, coll, create, doc } from '../../src/engine/testing/engine-world.ts';
import { createEngine } from '../../src/engine/engine.ts';
import { HEAD } from '../../src/engine/transactions.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Store } from '../../src/store/port.ts';
import { guardedStore, lockedStore, readLock, writeLock } from './lock.ts';

const NOTE = create(doc('notes', 1), { text: 'a heron' });

/** An engine without a lease: it reads the head in every transaction. */
function engineOn(store: Store): Engine {
  let now = 1_800_000_000_000_000;
  return createEngine({
    store,
    clock: () => (now += 1000),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    sha256: () => new Uint8Array(32),
    passwords: { hash: () => Promise.resolve(''), verify: () => Promise.resolve(false) },
    hashCost: 4,
    durability: 'relaxed',
    rootSecret: 'root',
    regionGroup: 'local',
    pause: () => Promise.resolve(),
  });
}

const ask = (engine: Engine, query: unknown) =>
  engine.query({
    secret: 'root',
    query: JSON.stringify(query),
    apiVersion: '4',
    allows: 'write',
  });

/** A store that contains a note. */
async function filled(): Promise<Store> {
  const world = new EngineWorld();
  await world.ask({ create_collection: { object: { name: 'notes' } } });
  await world.ask(NOTE);
  return world.store;
}

test('guardedStore() refuses reads and writes as soon as the database is locked, even of cached data', async () => {
  const store = await filled();
  const received = new Set<string>();
  const engine = engineOn(guardedStore(store, (state) => received.add(state)));
  expect((await ask(engine, { get: doc('notes', 1) })).status).toBe(200);
  await writeLock(store, 'locked');
  for (const query of [{ get: doc('notes', 1) }, create(coll('notes'), {}), 1]) {
    const answer = await ask(engine, query);
    expect(answer).toMatchObject({ status: 423 });
    expect(answer.body).toContain('"code":"locked"');
    expect(answer.body).not.toContain('heron');
  }
  await expect(engine.authenticate('root')).rejects.toMatchObject({ code: 'locked' });
  await expect(engine.verify()).rejects.toMatchObject({ code: 'locked' });
  expect([...received]).toEqual(['locked']);
  await writeLock(store, 'open');
  expect((await ask(engine, { get: doc('notes', 1) })).status).toBe(200);
});

test('guardedStore() distinguishes a database that is being deleted from a locked one', async () => {
  const store = await filled();
  const received = new Set<string>();
  const engine = engineOn(guardedStore(store, (state) => received.add(state)));
  await writeLock(store, 'forgotten');
  const { body } = await ask(engine, { get: doc('notes', 1) });
  expect(body).toContain('"code":"storage_unavailable"');
  expect(body).toContain('deleted in another tab');
  expect([...received]).toEqual(['forgotten']);
});

test('writeLock() changes only the mark in the head', async () => {
  const store = await filled();
  const head = () => store.read(async (tx) => (await tx.fetch([HEAD], [])).rows[0]?.value);
  const before = await head();
  expect(await readLock(store)).toBe('open');
  for (const state of ['locked', 'forgotten'] as const) {
    await writeLock(store, state);
    expect(await readLock(store)).toBe(state);
  }
  await writeLock(store, 'open');
  expect(await head()).toBe(before);
});

test('writeLock() locks an empty database', async () => {
  const store = createMemoryStore();
  await writeLock(store, 'locked');
  expect(await readLock(store)).toBe('locked');
  expect((await ask(engineOn(guardedStore(store, () => undefined)), 1)).status).toBe(423);
});

test('lockedStore() lets its engine read and write, and its writes keep the lock', async () => {
  const store = await filled();
  await writeLock(store, 'locked');
  const engine = engineOn(lockedStore(store));
  expect((await ask(engine, create(coll('notes'), {}))).status).toBe(201);
  expect(await readLock(store)).toBe('locked');
  expect((await ask(engine, { get: doc('notes', 1) })).status).toBe(200);
  // If another tab has unlocked the database, it stays unlocked.
  await writeLock(store, 'open');
  expect((await ask(engine, create(coll('notes'), {}))).status).toBe(201);
  expect(await readLock(store)).toBe('open');
});
