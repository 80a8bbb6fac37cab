/** Reads on a copy that call a function with a role of its own, which only the hub can grant. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { q, type Database, type Sync } from '../src/index.ts';
import { createNetwork, openDatabase, openHub, type TestHub, type TestNetwork } from './testing.ts';

const notes = q.Collection('notes');
const counted = q.Call(q.Function('counted'));
/** This function writes, which the call itself does not show. */
const noted = q.Call(q.Function('noted'));

let hub: TestHub;
let network: TestNetwork;
let db: Database;
let sync: Sync;

beforeEach(async () => {
  hub = await openHub();
  const admin = hub.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  await admin.query(
    q.CreateFunction({
      name: 'counted',
      role: 'admin',
      body: q.Query(q.Lambda([], q.Count(q.Documents(notes)))),
    }),
  );
  await admin.query(
    q.CreateFunction({
      name: 'noted',
      role: 'admin',
      body: q.Query(q.Lambda([], q.Create(notes, { data: {} }))),
    }),
  );
  const { secret } = await admin.query(q.CreateKey({ role: 'server' }));
  network = createNetwork();
  db = await openDatabase('notes', { network });
  sync = await db.sync({ url: hub.url, secret, sets: [q.Documents(notes)] });
  await sync.whenSynced();
});
afterEach(async () => {
  await db.close();
  await hub.close();
});

test.each(['complete', 'hub-or-copy'] as const)(
  'offline, `at: %s` rejects a call of a function with a role',
  async (at) => {
    network.offline();
    await expect.poll(() => sync.state).toBe('offline');
    await expect(sync.client.query(counted, { at })).rejects.toMatchObject({
      code: 'connection_needed',
      message: expect.stringContaining('function with a role of its own') as string,
    });
  },
);

test.each(['complete', 'hub-or-copy'] as const)(
  'with `at: %s` the hub answers a call of a function with a role',
  async (at) => {
    await expect.poll(() => sync.state).toBe('live');
    expect(await sync.client.queryWithMetrics(counted, { at })).toMatchObject({
      value: 0,
      from: 'hub',
    });
  },
);

test('the hub answers a live query that calls a function with a role, again after each change', async () => {
  const answers: unknown[] = [];
  const stop = sync.client.subscribe(counted, {
    next: (count, { from }) => void answers.push(from === 'hub' ? count : from),
    error: (error) => void answers.push(error.code),
  });
  await expect.poll(() => answers).toEqual([0]);
  await hub.client().query(q.Create(notes, { data: {} }));
  await expect.poll(() => answers).toEqual([0, 1]);
  stop();
});

const notesAtHub = () => hub.client().query(q.Count(q.Documents(notes)));
const refusedIn = (place: string) => ({
  code: 'call error',
  errors: [
    { cause: [{ description: `Call performs a write, which is not allowed in ${place}.` }] },
  ],
});

test.each(['complete', 'hub-or-copy'] as const)(
  'with `at: %s` a function that writes is refused, and nothing is written',
  async (at) => {
    await expect.poll(() => sync.state).toBe('live');
    await expect(sync.client.query(noted, { at })).rejects.toMatchObject(
      refusedIn("queries with `at`, except `at: 'hub'`"),
    );
    expect(await notesAtHub()).toBe(0);
  },
);

test('a live query whose function writes is refused, and nothing is written', async () => {
  await expect.poll(() => sync.state).toBe('live');
  const failed = new Promise((resolve) => {
    sync.client.subscribe(noted, { next: resolve, error: resolve });
  });
  expect(await failed).toMatchObject(refusedIn('live queries'));
  expect(await notesAtHub()).toBe(0);
});
