/** Reads on a copy that call a function with a role of its own, which only the hub can grant. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { q, type Database, type Sync } from '../src/index.ts';
import { createNetwork, openDatabase, openHub, type TestHub, type TestNetwork } from './testing.ts';

const notes = q.Collection('notes');
const counted = q.Call(q.Function('counted'));

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
  'without a connection one at %s says that it needs one',
  async (at) => {
    network.offline();
    await expect.poll(() => sync.state).toBe('offline');
    await expect(sync.client.query(counted, { at })).rejects.toMatchObject({
      code: 'connection_needed',
      message: expect.stringContaining('function with a role of its own') as string,
    });
  },
);

test('a live one is answered by the hub, and again when something has come from there', async () => {
  const answers: unknown[] = [];
  const stop = sync.client.subscribe(counted, {
    next: (count) => void answers.push(count),
    error: (error) => void answers.push(error.code),
  });
  await expect.poll(() => answers).toEqual([0]);
  await hub.client().query(q.Create(notes, { data: {} }));
  await expect.poll(() => answers).toEqual([0, 1]);
  stop();
});
