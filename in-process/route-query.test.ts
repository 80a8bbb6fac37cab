/** Whether an answer of a copy is complete, and where the answer comes from. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CopyIncomplete, q, type AnswerScope, type Database, type Sync } from '../src/index.ts';
import { createNetwork, openDatabase, openHub, type TestHub, type TestNetwork } from './testing.ts';

const notes = q.Collection<{ color: string }>('notes');
const all = q.Documents(notes);
const ofColor = (color: string) => q.Match(q.Index('notes_by_color'), color);

let hub: TestHub;
let network: TestNetwork;
let db: Database;
let sync: Sync;

/** The hub has a red note and a blue one; the copy keeps the red one. */
beforeEach(async () => {
  hub = await openHub();
  const admin = hub.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  await admin.query(
    q.CreateIndex({ name: 'notes_by_color', source: notes, terms: [{ field: ['data', 'color'] }] }),
  );
  for (const color of ['red', 'blue']) await admin.query(q.Create(notes, { data: { color } }));
  const { secret } = await admin.query(q.CreateKey({ role: 'admin' }));
  network = createNetwork();
  db = await openDatabase('notes', { network });
  sync = await db.sync({ url: hub.url, secret, sets: [ofColor('red')] });
  await sync.whenSynced();
});
afterEach(async () => {
  await db.close();
  await hub.close();
});

const INCOMPLETE = { partial: [{ collection: 'notes' }], from: 'device' };

describe('an answer of the copy', () => {
  test('lists the collections and indexes that are incomplete', async () => {
    const { client } = sync;
    expect(await client.queryWithMetrics(q.Count(all))).toMatchObject({ value: 1, ...INCOMPLETE });
    expect(await client.queryWithMetrics(q.Count(ofColor('red')))).toMatchObject({
      value: 1,
      partial: [],
    });
    expect(await client.queryWithMetrics(q.Count(ofColor('blue')))).toMatchObject({
      value: 0,
      partial: [{ index: 'notes_by_color' }],
    });
  });

  test('of a database that is not a copy is complete', async () => {
    const own = await openDatabase();
    await own.client().query(q.CreateCollection({ name: 'notes' }));
    const answer = await own.client().queryWithMetrics(q.Count(all));
    expect(answer).toMatchObject({ value: 0, partial: [], from: 'device' });
    await own.close();
  });

  test('that must be complete fails and names the set to keep', async () => {
    const { client } = sync;
    const asked = client.query(q.Count(all), { at: 'complete' });
    await expect(asked).rejects.toBeInstanceOf(CopyIncomplete);
    await expect(asked).rejects.toMatchObject({
      code: 'copy_incomplete',
      description: expect.stringContaining('Documents(Collection("notes"))'),
    });
    expect(await client.query(q.Count(ofColor('red')), { at: 'complete' })).toBe(1);
    await sync.setSets([all]);
    await sync.whenSynced();
    expect(await client.query(q.Count(all), { at: 'complete' })).toBe(2);
    network.offline();
    expect(await client.query(q.Count(all), { at: 'complete' })).toBe(2);
  });

  test('that must be complete fails for a collection that the copy does not know', async () => {
    await hub.client().query(q.CreateCollection({ name: 'tasks' }));
    const asked = sync.client.query(q.Count(q.Documents(q.Collection('tasks'))), {
      at: 'complete',
    });
    await expect(asked).rejects.toMatchObject({ code: 'copy_incomplete' });
  });
});

describe('at the hub, or on the copy', () => {
  test('the hub answers while it can be reached, and the copy otherwise', async () => {
    const { client } = sync;
    const ask = () => client.queryWithMetrics(q.Count(all), { at: 'hub-or-copy' });
    expect(await ask()).toMatchObject({ value: 2, partial: [], from: 'hub' });
    network.offline();
    expect(await ask()).toMatchObject({ value: 1, ...INCOMPLETE });
    network.online();
    await sync.whenSynced();
    expect(await ask()).toMatchObject({ value: 2, from: 'hub' });
  });

  test('an answer of the hub has all of its metrics', async () => {
    const { metrics } = await sync.client.queryWithMetrics(
      q.Map(q.Paginate(all), (ref) => q.Get(ref)),
      { at: 'hub' },
    );
    for (const name of ['readOps', 'readBytes', 'bytesIn', 'bytesOut'] as const)
      expect(metrics[name], name).toBeGreaterThan(0);
  });

  test('the hub answers a query of a collection that the copy does not know', async () => {
    const tasks = q.Collection('tasks');
    await hub.client().query(q.CreateCollection({ name: 'tasks' }));
    expect(await sync.client.query(q.Count(q.Documents(tasks)), { at: 'hub-or-copy' })).toBe(0);
  });

  test.each(['complete', 'hub-or-copy'] as const)('a write is refused (%s)', async (at) => {
    const write = q.Create(notes, { data: { color: 'red' } });
    await expect(sync.client.query(write, { at })).rejects.toMatchObject({
      code: 'invalid expression',
      description: expect.stringContaining('`at`'),
    });
    expect(await hub.client().query(q.Count(all))).toBe(2);
    expect(await sync.writes.list()).toEqual([]);
  });

  test.each(['nub', 'Hub', '', null, 5])(
    'an unknown value of `at` is refused (%s)',
    async (given) => {
      const at = given as 'hub';
      const write = q.Create(notes, { data: { color: 'red' } });
      for (const expression of [q.Count(all), write])
        await expect(sync.client.query(expression, { at })).rejects.toMatchObject({
          code: 'bad request',
          description: `The option \`at\` must be one of complete, hub, hub-or-copy, but is ${JSON.stringify(given)}.`,
        });
      expect(await hub.client().query(q.Count(all))).toBe(2);
      expect(await sync.writes.list()).toEqual([]);
    },
  );

  test('only the client of the sync accepts `at`', async () => {
    for (const at of ['complete', 'hub', 'hub-or-copy'] as const)
      await expect(db.client().query(q.Count(all), { at })).rejects.toMatchObject({
        code: 'bad request',
      });
  });
});

test('a live query lists incomplete indexes, and reports when it is complete', async () => {
  const received: (readonly [number, AnswerScope['partial']])[] = [];
  const blue = q.Count(ofColor('green'));
  const stop = sync.client.subscribe(blue, {
    next: (value, { partial }) => void received.push([value, partial]),
  });
  await expect.poll(() => received).toEqual([[0, [{ index: 'notes_by_color' }]]]);
  await sync.setSets([all]);
  // There is no green note: only the information that nothing is missing changes.
  await expect.poll(() => received.at(-1)).toEqual([0, []]);
  expect(received).toHaveLength(2);
  stop();
});
