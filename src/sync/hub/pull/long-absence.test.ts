/** Devices that come back after the log of changes was cut. */
import { describe, expect, test } from 'vitest';
import { coll, create, doc, obj } from '../../../engine/testing/engine-world.ts';
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
