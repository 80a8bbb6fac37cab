/** Live queries on a copy that are answered by the hub while it can be reached, or only if the copy holds everything they read. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLiveRoute } from '../hub/live/live-route.ts';
import { DEFAULT_SETTINGS } from '../hub/settings/settings.ts';
import { createSyncRoute } from '../hub/sync/sync-route.ts';
import { openTestHub, type TestHub } from '../hub/testing/test-hub.ts';
import { q, type BurrowError, type Client, type Database, type Sync } from '../src/index.ts';
import { connect, type RemoteDatabase } from './remote.ts';
import { createNetwork, openDatabase, type TestNetwork } from './testing.ts';

const notes = q.Collection<{ color: string }>('notes');
const all = q.Documents(notes);
const red = q.Match(q.Index('notes_by_color'), 'red');
const add = (color: string) => q.Create(notes, { data: { color } });

let hub: TestHub;
let remote: RemoteDatabase;
let admin: Client;
let network: TestNetwork;
let db: Database;
let sync: Sync;

/** The hub has a red note and a blue one; the copy keeps the red one. */
beforeEach(async () => {
  hub = await openTestHub({
    routes: (of) => [createSyncRoute(of, {}), createLiveRoute(of, DEFAULT_SETTINGS)],
  });
  remote = await connect({ url: hub.url, secret: hub.secret });
  admin = remote.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  await admin.query(
    q.CreateIndex({ name: 'notes_by_color', source: notes, terms: [{ field: ['data', 'color'] }] }),
  );
  for (const color of ['red', 'blue']) await admin.query(add(color));
  network = createNetwork();
  db = await openDatabase('notes', { network });
  sync = await db.sync({ url: hub.url, secret: hub.secret, sets: [red] });
  await sync.whenSynced();
});
afterEach(async () => {
  await db.close();
  await remote.close();
});

test('whenSynced() rejects if the sync is stopped, until it starts again', async () => {
  await sync.stop();
  await sync.whenSettled();
  await expect(sync.whenSynced()).rejects.toMatchObject({
    code: 'connection_needed',
    message: expect.stringContaining('stopped'),
  });
  await sync.setSets([red]);
  await Promise.all([sync.whenSettled(), sync.whenSynced()]);
});

/** Counts all notes. @returns the received answers, as texts */
function watch(client: Client, at: 'complete' | 'hub-or-copy') {
  const received: string[] = [];
  const stop = client.subscribe(
    q.Count(all),
    {
      next: (count, { from, partial }) =>
        void received.push(`${count} ${from}${partial.length > 0 ? ' partial' : ''}`),
      error: (error: BurrowError) => void received.push(error.code),
    },
    { at },
  );
  return { received, stop };
}

test('with `hub-or-copy` the hub answers while it can be reached, and otherwise the copy', async () => {
  const { received, stop } = watch(sync.client, 'hub-or-copy');
  const last = () => received.at(-1);
  await expect.poll(last).toBe('2 hub');
  await admin.query(add('blue'));
  await expect.poll(last).toBe('3 hub');
  network.offline();
  await expect.poll(last).toBe('1 device partial');
  await sync.client.submit(add('red'));
  await expect.poll(last).toBe('2 device partial');
  await admin.query(add('blue'));
  network.online();
  await expect.poll(last).toBe('5 hub');
  stop();
  const count = received.length;
  await admin.query(add('blue'));
  await sync.client.submit(add('red'));
  await sync.whenSettled();
  expect(received).toHaveLength(count);
});

test('after sync.stop() the copy answers live queries', async () => {
  const { received } = watch(sync.client, 'hub-or-copy');
  await expect.poll(() => received.at(-1)).toBe('2 hub');
  await sync.stop();
  await expect.poll(() => received.at(-1)).toBe('1 device partial');
  await sync.setSets([red]);
  await expect.poll(() => received.at(-1)).toBe('2 hub');
});

test('with `complete` a live query fails until the copy holds everything it reads', async () => {
  const { received } = watch(sync.client, 'complete');
  await expect.poll(() => received).toEqual(['copy_incomplete']);
  await sync.setSets([all]);
  await expect.poll(() => received.at(-1)).toBe('2 device');
  expect(received).not.toContain('1 device partial');
});

test('`at` is refused for other clients and for unknown values', async () => {
  const { received } = watch(db.client(), 'hub-or-copy');
  await expect.poll(() => received).toEqual(['bad request']);
  const wrong = watch(sync.client, 'hub' as never);
  await expect.poll(() => wrong.received).toEqual(['bad request']);
});

test('the hub answers live queries of a client made by connect()', async () => {
  const from: string[] = [];
  const stop = admin.subscribe(q.Count(all), { next: (_, scope) => void from.push(scope.from) });
  await expect.poll(() => from).toEqual(['hub']);
  stop();
});
