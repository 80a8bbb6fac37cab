/** Devices that come back after the log of changes was cut. */
import { describe, expect, test } from 'vitest';
import { syncKey } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { coll, create, doc, obj } from '../../../engine/testing/engine-world.ts';
import { scan } from '../../../store/scan.ts';
import { pruneChanges } from '../pruning/prune-changes.ts';
import type { Device, HubWorld } from '../../testing/hub-world.ts';
import { ids, lambda, openThings, put, reads, remove, role, THINGS } from '../../testing/things.ts';

const DAY: number = 86_400 * 1_000_000;

/** Drops all changes until now from the log. */
const cut = (world: HubWorld): Promise<number> => pruneChanges(world.pruneHost, world.now);

async function absent(world: HubWorld): Promise<void> {
  world.now += 90 * DAY;
  await cut(world);
}

/** Loads the sets of a device, and compares them if that is due. */
async function inStep(world: HubWorld, device: Device): Promise<Device> {
  await device.pull();
  if (device.mustCheck) await device.check();
  await device.pull();
  return device;
}

const otherThings = async (world: HubWorld): Promise<void> => {
  await world.ask({ create_collection: obj({ name: 'others' }) });
};

/** Number of collections and indexes of which the time of the last dropped change is kept. */
async function timesKept({ store }: HubWorld): Promise<number> {
  const list = scan('sync', prefixRange(syncKey('dropped')), { rows: false });
  const { ranges } = await store.read((tx) => tx.fetch([], [list]));
  return ranges[0]?.length ?? 0;
}

test('the hub keeps nothing of collections and indexes that were deleted', async () => {
  const world = await openThings();
  const use = async (n: number): Promise<void> => {
    const [name, index] = [`c${n}`, `i${n}`];
    await world.ask({ create_collection: obj({ name }) });
    const terms = [obj({ field: ['data', 'n'] })];
    await world.ask({ create_index: obj({ name: index, source: coll(name), terms }) });
    await world.ask(create(doc(name, 1), { n: 1 }));
    // Its last changes are dropped before it is deleted, or together with its deletion.
    if (n % 2 === 0) await absent(world);
    await world.ask({ delete: { index } });
    await world.ask({ delete: coll(name) });
    await absent(world);
    // This removes its documents, which the log records too.
    await world.engine.collectExpiredData();
    await absent(world);
  };
  for (const n of [0, 1]) await use(n);
  const before = await timesKept(world);
  expect(before).toBeGreaterThan(0);
  for (const n of [2, 3, 4, 5]) await use(n);
  expect(await timesKept(world)).toBe(before);
});

describe('after 90 days, when the log of changes has been pruned', () => {
  test('a set without changes needs no comparison, and no document is sent', async () => {
    const world = await openThings();
    await otherThings(world);
    for (let id = 1; id <= 300; id++) await put(world, id);
    const device = await inStep(world, (await world.device()).watch(THINGS));
    for (let id = 1; id <= 50; id++) await world.ask(create(doc('others', id), {}));
    await absent(world);
    const pulled = await device.pullOnce();
    expect(pulled).toMatchObject({ check: false, puts: [], leaves: [], more: false });
    expect(JSON.stringify(pulled).length).toBeLessThan(2000);
    // Later changes are pulled as usual.
    await put(world, 301);
    expect((await device.pullOnce()).puts.map(([, id]) => id)).toEqual(['301']);
    expect(ids(device)).toHaveLength(301);
  });

  test.each([
    ['a document of the set was changed', (world: HubWorld) => put(world, 1, { n: 'new' })],
    ['one came', (world: HubWorld) => put(world, 9)],
    ['one went', (world: HubWorld) => remove(world, 2)],
    [
      'the schema changed',
      (world: HubWorld) => world.ask({ create_collection: obj({ name: 'more' }) }),
    ],
  ])('a device must compare when %s', async (_, change) => {
    const world = await openThings();
    for (let id = 1; id <= 3; id++) await put(world, id);
    const device = await inStep(world, (await world.device()).watch(THINGS));
    await change(world);
    await absent(world);
    expect(await device.pullOnce()).toMatchObject({ check: true, skipped: true });
  });

  test('a device must compare when a collection of its sets was deleted', async () => {
    const world = await openThings();
    await otherThings(world);
    await put(world, 1);
    await world.ask(create(doc('others', 1), {}));
    const device = (await world.device()).watch(THINGS, { documents: coll('others') });
    await inStep(world, device);
    expect(device.documents.size).toBe(2);
    await world.ask({ update: doc('others', 1), params: obj({ data: obj({ n: 1 }) }) });
    await cut(world);
    await world.ask({ delete: coll('others') });
    await absent(world);
    expect((await device.pullOnce()).check).toBe(true);
  });

  test('changes of an index match are recognised by index entries, not by the collection of the index', async () => {
    const world = await openThings();
    const terms = [{ field: ['data', 'color'] }].map(obj);
    for (const name of ['by_color', 'by_shape']) {
      const of = name === 'by_color' ? terms : [{ field: ['data', 'shape'] }].map(obj);
      await world.ask({ create_index: obj({ name, source: coll('things'), terms: of }) });
    }
    await put(world, 1, { color: 'red' });
    const red = { match: { index: 'by_color' }, terms: 'red' };
    const device = await inStep(world, (await world.device()).watch(red));
    // The document has no color, so no entry of the index has changed.
    await put(world, 2, { shape: 'round' });
    await absent(world);
    expect(await device.pullOnce()).toMatchObject({ check: false, puts: [] });
    await put(world, 1, { color: 'blue' });
    await absent(world);
    expect((await device.pullOnce()).check).toBe(true);
  });

  test('a device must compare when a document that its rights depend on has changed', async () => {
    const world = await openThings();
    await otherThings(world);
    const isOpen = { select: ['data', 'open'], from: { get: doc('others', 1) }, default: false };
    await world.ask(create(doc('others', 1), { open: true }));
    await world.ask(create(doc('users', 2), {}));
    await world.ask(role([reads(coll('things'), lambda(isOpen)), reads(coll('others'))]));
    await put(world, 1);
    const device = await inStep(world, (await world.device(await world.user(1))).watch(THINGS));
    expect(ids(device)).toEqual([1]);
    await absent(world);
    expect((await device.pullOnce()).check).toBe(false);
    await world.ask({ update: doc('others', 1), params: obj({ data: obj({ open: false }) }) });
    await absent(world);
    expect((await device.pullOnce()).check).toBe(true);
    await device.check();
    expect(ids(device)).toEqual([]);
  });

  test('a device need not compare because other people log in or unrelated documents change', async () => {
    const world = await openThings();
    await otherThings(world);
    const isOpen = { select: ['data', 'open'], from: { get: doc('others', 1) }, default: false };
    for (const id of [1, 2]) await world.ask(create(doc('others', id), { open: true }));
    await world.ask(role([reads(coll('things'), lambda(isOpen)), reads(coll('others'))]));
    await put(world, 1);
    const device = await inStep(world, (await world.device(await world.user(1))).watch(THINGS));
    await world.user(2);
    await world.ask({ update: doc('others', 2), params: obj({ data: obj({ open: false }) }) });
    await absent(world);
    expect(await device.pullOnce()).toMatchObject({ check: false, puts: [], leaves: [] });
    // A document that decides on access is checked again, also when it is gone.
    await world.ask({ delete: doc('others', 1) });
    await absent(world);
    expect((await device.pullOnce()).check).toBe(true);
  });
});
