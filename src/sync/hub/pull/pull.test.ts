import { expect, test } from 'vitest';
import { coll, create, doc, obj, ROOT } from '../../../engine/testing/engine-world.ts';
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import type { Pulled } from '../../protocol/messages.ts';
import { pruneChanges } from '../pruning/prune-changes.ts';
import { accepted, HubWorld, wire } from '../../testing/hub-world.ts';
import {
  ids,
  lambda,
  openThings,
  put,
  reads,
  remove,
  role,
  THINGS,
  THINGS_NUMBER,
} from '../../testing/things.ts';

test('a set is loaded in pages of one snapshot, and later changes follow', async () => {
  const world = await openThings();
  for (let id = 1; id <= 30; id++) await put(world, id);
  const device = (await world.device()).watch(THINGS);
  device.maxBytes = 150;
  expect(await device.pull()).toBeGreaterThan(3);
  expect(ids(device)).toHaveLength(30);
  await put(world, 5, { n: 50 });
  await remove(world, 6);
  await put(world, 31);
  const pulled = await device.pullOnce();
  expect(pulled.puts.map(([, id]) => id)).toEqual(['5', '31']);
  expect(pulled.leaves).toEqual([[THINGS_NUMBER, '6']]);
  expect(device.documents.get(`${THINGS_NUMBER}/5`)).toContain('"n":50');
});

test('a later commit is after the cursor of a pull, also from a process whose clock is behind', async () => {
  const memory = new SharedMemory();
  const ahead = await HubWorld.open(createMemoryStore(memory));
  const behind = await HubWorld.open(createMemoryStore(memory));
  ahead.tick(3_600_000);
  await ahead.ask({ create_collection: obj({ name: 'users' }) });
  await ahead.ask({ create_collection: obj({ name: 'things' }) });
  await put(ahead, 1);
  const device = (await ahead.device()).watch(THINGS);
  ahead.tick(3_600_000);
  await device.pull();
  const { cursor = 0 } = device;
  expect(cursor).toBeLessThan(ahead.now);
  await put(behind, 2);
  const { ts } = await behind.document({ get: doc('things', 2) });
  expect(ts).toBeGreaterThan(cursor);
  expect((await device.pullOnce()).puts.map(([, id]) => id)).toEqual(['2']);
});

test('the first page contains the number of documents only if the user may read all of them', async () => {
  const world = await openThings();
  await put(world, 1);
  await put(world, 2);
  const admin = (await world.device()).watch(THINGS);
  expect((await admin.pullOnce()).sets[0]?.of).toBe(2);
  expect((await admin.pullOnce()).sets[0]?.of).toBeUndefined();
  await world.ask(role([reads(coll('things'), lambda(true))]));
  const user = (await world.device(await world.user(1))).watch(THINGS);
  expect((await user.pullOnce()).sets[0]?.of).toBeUndefined();
  expect(ids(user)).toEqual([1, 2]);
});

test('loading continues at the place that the device sends, also after changes to earlier pages', async () => {
  const world = await openThings();
  for (let id = 1; id <= 20; id++) await put(world, id);
  const device = (await world.device()).watch(THINGS);
  device.maxBytes = 120;
  await device.pullOnce();
  const first = ids(device).length;
  expect(first).toBeLessThan(15);
  await remove(world, 1);
  await remove(world, 20);
  await put(world, 2, { n: 'new' });
  const pulled = await device.pullOnce();
  expect(pulled.leaves).toEqual([[THINGS_NUMBER, '1']]);
  expect(pulled.puts.map(([, id]) => id)).toContain('2');
  device.maxBytes = 1e6;
  await device.pull();
  expect(ids(device)).toEqual(Array.from({ length: 18 }, (_, i) => i + 2));
  expect(device.documents.get(`${THINGS_NUMBER}/2`)).toContain('new');
});

test('a load in many small pages sends no document twice', async () => {
  const world = await openThings();
  for (let id = 1; id <= 60; id++) await put(world, id, { text: 'x'.repeat(40) });
  let bytes = 0;
  const device = (await world.device()).watch(THINGS);
  device.maxBytes = 500;
  for (let isLoaded = false; !isLoaded;) {
    const pulled = await device.pullOnce();
    bytes += pulled.puts.reduce((sum, [, , stored]) => sum + stored.length, 0);
    isLoaded = pulled.sets[0]?.loaded[0] === undefined || pulled.sets[0].loaded[0] === null;
  }
  const once = [...device.documents.values()].reduce((sum, { length }) => sum + length, 0);
  expect(bytes).toBe(once);
});

test('F18 S8 changes that do not fit into one pull come in parts that end at commits', async () => {
  const world = await openThings();
  const device = (await world.device()).watch(THINGS);
  await device.pull();
  for (let id = 1; id <= 40; id++) await put(world, id);
  await remove(world, 3);
  device.maxBytes = 100;
  const head = (await world.answer({ now: null })).txnTime;
  let parts = 0;
  for (let more = true; more; parts++) {
    const before = device.cursor ?? 0;
    ({ more } = await device.pullOnce());
    expect(device.cursor).toBeGreaterThan(before);
    expect(device.documents.size === 0).toBe(more);
  }
  expect(parts).toBeGreaterThan(5);
  expect(device.cursor).toBeLessThanOrEqual(head);
  expect(ids(device)).toHaveLength(39);
});

test('F18 pages follow after all changes: earlier parts are stored as documents, but not as progress of the sets', async () => {
  const world = await openThings();
  for (let id = 1; id <= 20; id++) await put(world, id);
  const device = (await world.device()).watch(THINGS);
  device.maxBytes = 120;
  await device.pullOnce();
  const loaded = ids(device);
  const { sets } = device;
  for (const id of loaded) await put(world, id, { n: 'x'.repeat(100) });
  for (let more = true; more;) {
    const part = await device.pullOnce();
    ({ more } = part);
    const isPlaceKept = JSON.stringify(device.sets) === JSON.stringify(sets);
    expect([isPlaceKept, part.puts.every(([, id]) => loaded.includes(Number(id)))]).toEqual([
      more,
      more,
    ]);
  }
});

test('S9 a repeated pull has the same answer, and an old cursor misses no change', async () => {
  const world = await openThings();
  const device = (await world.device()).watch(THINGS);
  await device.pull();
  const message = wire(device.pullMessage());
  await Promise.all(Array.from({ length: 20 }, (_, i) => put(world, i + 1)));
  const once = accepted(await world.sync.pull(ROOT, message));
  const again = accepted(await world.sync.pull(ROOT, message));
  expect(again).toEqual(once);
  await Promise.all(Array.from({ length: 20 }, (_, i) => put(world, i + 21)));
  const late = accepted(await world.sync.pull(ROOT, message));
  expect(late.puts).toHaveLength(40);
});

test('S9 pulls during writes miss no change', async () => {
  const world = await openThings();
  const device = (await world.device()).watch(THINGS);
  await device.pull();
  const writing = Promise.all(Array.from({ length: 60 }, (_, i) => put(world, i + 1)));
  for (let i = 0; i < 20; i++) await device.pullOnce();
  await writing;
  await device.pull();
  expect(ids(device)).toHaveLength(60);
});

test('a pull contains the writes of the device together with their verdicts', async () => {
  const world = await openThings();
  const device = (await world.device()).watch(THINGS);
  await device.pull();
  await device.push(device.item({ query: create(doc('things', 1), { n: 1 }) }));
  const pulled = await device.pullOnce();
  expect(pulled.lastSeq).toBe(1);
  expect(pulled.verdicts).toMatchObject([{ seq: 1, state: 'confirmed' }]);
  expect(ids(device)).toEqual([1]);
  device.settled = 1;
  expect((await device.pullOnce()).verdicts).toEqual([]);
});

test('documents enter and leave a set as their index entries do', async () => {
  const world = await openThings();
  await world.ask({
    create_index: obj({
      name: 'by_kind',
      source: coll('things'),
      terms: [obj({ field: ['data', 'kind'] })],
      values: [obj({ field: ['data', 'n'] })],
    }),
  });
  for (let id = 1; id <= 10; id++) await put(world, id, { kind: id % 2 ? 'a' : 'b', n: id });
  const device = (await world.device()).watch({ match: { index: 'by_kind' }, terms: 'a' });
  device.maxBytes = 100;
  await device.pull();
  expect(ids(device)).toEqual([1, 3, 5, 7, 9]);
  await put(world, 2, { kind: 'a', n: 2 });
  await put(world, 3, { kind: 'b', n: 3 });
  await put(world, 4, { kind: 'b', n: 4 });
  await put(world, 5, { kind: 'a', n: -1 });
  await device.pull();
  expect(ids(device)).toEqual([1, 2, 5, 7, 9]);
  expect(device.heardOf).not.toContain(`${THINGS_NUMBER}/4`);
});

test('unions and refs are sets of a device, and other expressions are refused', async () => {
  const world = await openThings();
  await put(world, 1);
  await put(world, 2);
  const device = (await world.device()).watch(
    { union: [{ singleton: doc('things', 1) }, { documents: coll('users') }] },
    doc('things', 2),
    { intersection: [THINGS, THINGS] },
    { documents: coll('nowhere') },
    { documents: { keys: null } },
    'text',
    { distinct: THINGS },
  );
  device.sets.push({ id: 'broken', query: '{', loaded: 'nothing' });
  const { sets, puts } = await device.pullOnce();
  expect(sets.slice(0, 2).map(({ parts }) => parts.map(({ kind }) => kind))).toEqual([
    ['document', 'collection'],
    ['document'],
  ]);
  expect(sets.slice(2).map(({ error }) => error?.code)).toEqual([
    'invalid argument',
    'invalid ref',
    'invalid argument',
    'invalid argument',
    'invalid argument',
    'invalid expression',
  ]);
  expect(puts.map(([, id]) => id)).toEqual(['1', '2']);
});

test('an undefined, future or pruned cursor requires a check', async () => {
  const world = await openThings();
  await put(world, 1);
  await put(world, 2);
  const device = (await world.device()).watch(THINGS);
  await device.pull();
  await remove(world, 1);
  await put(world, 3);
  const host = world.pruneHost;
  expect(await pruneChanges(host, (device.cursor ?? 0) - 1)).toBeGreaterThan(0);
  expect((await world.sync.pull(ROOT, wire(device.pullMessage()))) as Pulled).toMatchObject({
    check: false,
    leaves: [[THINGS_NUMBER, '1']],
  });
  expect(await pruneChanges(host, world.now + 1)).toBe(2);
  expect(await device.pullOnce()).toMatchObject({ check: true, puts: [], leaves: [], more: false });
  expect(await device.check()).toBe(2);
  expect(ids(device)).toEqual([2, 3]);
  expect(await device.check()).toBe(0);
  expect((await device.pullOnce()).check).toBe(false);
  for (const cursor of [undefined, world.now * 2]) {
    device.cursor = cursor;
    expect((await device.pullOnce()).check).toBe(true);
    expect(await device.check()).toBe(0);
    expect((await device.pullOnce()).check).toBe(false);
  }
});

test('pruneChanges() prunes the changes of every database in batches', async () => {
  const world = await openThings();
  await world.ask({ create_database: obj({ name: 'child' }) });
  const child = `${ROOT}:child:admin`;
  await world.ask({ create_collection: obj({ name: 'things' }) }, { secret: child });
  for (let id = 1; id <= 20; id++) await put(world, id);
  const host = world.pruneHost;
  expect(await pruneChanges(host, world.now + 1)).toBe(20 + 4);
  expect(await pruneChanges(host, world.now + 1)).toBe(0);
});

test('a device of a child database sees that database as its root', async () => {
  const world = await openThings();
  await world.ask({ create_database: obj({ name: 'child' }) });
  const child = `${ROOT}:child:admin`;
  const inChild = { secret: child };
  await world.ask({ create_collection: obj({ name: 'users' }) }, inChild);
  await world.ask({ create_collection: obj({ name: 'things' }) }, inChild);
  const index = {
    name: 'by_owner',
    source: coll('things'),
    terms: [obj({ field: ['data', 'owner'] })],
  };
  await world.ask({ create_index: obj(index) }, inChild);
  const owner = { owner: doc('users', 7) };
  await world.ask(create(doc('things', 1), owner), inChild);
  const device = (await world.device(child)).watch({
    match: { index: 'by_owner' },
    terms: doc('users', 7),
  });
  const { sets, puts, actor } = await device.pullOnce();
  expect(actor.database).toEqual(['child']);
  expect(puts.map(([, id]) => id)).toEqual(['1']);
  const root = await HubWorld.open();
  for (const name of ['users', 'things']) await root.ask({ create_collection: obj({ name }) });
  await root.ask({ create_index: obj(index) });
  const other = (await root.device()).watch({
    match: { index: 'by_owner' },
    terms: doc('users', 7),
  });
  expect((await other.pullOnce()).sets[0]?.parts).toEqual(sets[0]?.parts);
  await world.ask(create(doc('things', 2), owner), inChild);
  expect((await device.pullOnce()).puts).toHaveLength(1);
});

test('a set that resolves to other parts is loaded again', async () => {
  const world = await openThings();
  const index = () => ({
    create_index: obj({
      name: 'all_things',
      source: coll('things'),
      values: [obj({ field: ['ref'] })],
    }),
  });
  await world.ask(index());
  await put(world, 1);
  const device = (await world.device()).watch({ match: { index: 'all_things' } });
  await device.pull();
  await world.ask({ delete: { index: 'all_things' } });
  expect((await device.pullOnce()).sets[0]?.error?.code).toBe('invalid ref');
  world.now += 120_000_000;
  await world.ask(index());
  device.documents.clear();
  await device.pull();
  expect(ids(device)).toEqual([1]);
});

test('V2 pages and checks yield to other requests, and still finish', async () => {
  const world = await openThings();
  await world.ask(role([reads(coll('things'), lambda(true))]));
  const all = Array.from({ length: 700 }, (_, i) => i + 1);
  await world.ask({ do: all.map((id) => create(doc('things', id), { n: id })) });
  const user = (await world.device(await world.user(1))).watch(THINGS);
  world.haste = 1000;
  expect(await user.pull()).toBeGreaterThan(3);
  expect(ids(user)).toEqual(all);
  expect(await user.check()).toBe(0);
  user.documents.delete(`${THINGS_NUMBER}/5`);
  expect(await user.check()).toBe(1);
});

test('V2 other requests run between the slices of a check, and during its comparison', async () => {
  let pauses = 0;
  const pause = async (): Promise<void> => void (pauses += 1);
  const world = await openThings({ pause });
  const all = Array.from({ length: 1100 }, (_, i) => i + 1);
  await world.ask({ do: all.map((id) => create(doc('things', id), { n: id })) });
  const device = (await world.device()).watch(THINGS);
  await device.pull();
  pauses = 0;
  expect(await device.check()).toBe(0);
  expect(pauses).toBe(2);
  world.haste = 10_000;
  pauses = 0;
  expect(await device.check()).toBe(0);
  expect(pauses).toBeGreaterThan(15);
});

test('F18 many small changes come in parts, too', async () => {
  const world = await openThings();
  const device = (await world.device()).watch(THINGS);
  await device.pull();
  for (let from = 1; from <= 1600; from += 400) {
    const some = Array.from({ length: 400 }, (_, i) => from + i);
    await world.ask({ do: some.map((id) => create(doc('things', id), { n: id })) });
  }
  const first = await device.pullOnce();
  expect(first).toMatchObject({ more: true });
  expect(first.puts).toHaveLength(800);
  await device.pull();
  expect(ids(device)).toHaveLength(1600);
});
