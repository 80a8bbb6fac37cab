import { expect, test } from 'vitest';
import { coll, create, ROOT } from '../../../engine/testing/engine-world.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { createMemoryStore } from '../../../store/memory.ts';
import { syncKey } from '../../../codec/key.ts';
import { EVERY_KEY, prefixRange } from '../../../codec/ranges.ts';
import type { Store } from '../../../store/port.ts';
import { scan } from '../../../store/scan.ts';
import { Device, statesOf } from '../../testing/hub-world.ts';
import { count, openThings } from '../../testing/things.ts';
import { pruneChanges } from './prune-changes.ts';
import { pruneDevices } from './prune-devices.ts';

const DAY = 86_400_000_000;
const newThing = create(coll('things'), { n: 1 });

async function open() {
  const store = createMemoryStore();
  const world = await openThings({ store });
  const host = world.pruneHost;
  const prune = async () => {
    await pruneChanges(host, world.now - SYNC_LIMITS.changesKeptMicros);
    return pruneDevices(host, world.now - SYNC_LIMITS.devicesKeptMicros);
  };
  return { store, world, prune };
}

/** Number of rows in the space `sync` whose key contains the device id. */
async function rowsOf(store: Store, { id }: Device): Promise<number> {
  const { ranges } = await store.read((tx) => tx.fetch([], [scan('sync', EVERY_KEY)]));
  return (ranges[0] ?? []).filter(({ key }) => key.includes(id)).length;
}

test('pruneDevices() deletes all rows of a device that has not connected for a year, and none of others', async () => {
  const { store, world, prune } = await open();
  const idle = await world.device();
  const active = await world.device();
  for (const device of [idle, active]) {
    device.sets = [
      { id: 'all', query: '{"documents":{"collection":"things"}}', loaded: 'nothing' },
    ];
    await device.push(...Array.from({ length: 60 }, () => device.item({ query: newThing })));
    await device.pull();
  }
  const kept = await rowsOf(store, active);
  expect(await prune()).toBe(0);
  world.now += 300 * DAY;
  await active.hello();
  world.now += 100 * DAY;
  expect(await prune()).toBe(1);
  expect(await rowsOf(store, idle)).toBe(0);
  expect(await rowsOf(store, active)).toBe(kept);
  expect(await prune()).toBe(0);
});

test('a device that was pruned gets a new id: its unsent writes are judged, and writes that may have been sent are refused', async () => {
  const { world, prune } = await open();
  const device = await world.device();
  const first = device.item({ query: newThing });
  // The answer to this write was lost.
  const sent = device.item({ query: newThing });
  await device.push(first, sent);
  device.settled = 1;
  const unsent = device.item({ query: newThing, now: world.now + 300 * DAY });
  world.now += 400 * DAY;
  expect(await prune()).toBe(1);
  expect(await device.tryHello()).toMatchObject({
    code: 'device_expired',
    description: expect.stringMatching(/365 days, or the database was restored/),
  });
  expect(await device.tryPush(sent)).toMatchObject({ code: 'epoch_changed' });
  const moved = new Device(world, ROOT, 'e'.repeat(32));
  const { idKey } = device;
  const writes = [sent, unsent].map(({ now }) => moved.item({ query: newThing, now, idKey }));
  await moved.hello();
  const { verdicts } = await moved.push(...writes);
  expect(statesOf(verdicts)).toBe('refused confirmed');
  expect(verdicts[0]?.body).toContain('more than 365 days ago');
  expect(await count(world)).toBe(3);
});

test('a write that is refused for its age leaves no verdict by content, which nothing would delete', async () => {
  const { store, world } = await open();
  const device = await world.device();
  const times = [-1, -Number.MAX_SAFE_INTEGER, 0, world.now - 400 * DAY];
  const { verdicts } = await device.push(
    ...times.map((now) => device.item({ query: newThing, now })),
  );
  expect(verdicts.map(({ state }) => state)).toEqual(times.map(() => 'refused'));
  const made = scan('sync', prefixRange(syncKey('made')));
  const { ranges } = await store.read((tx) => tx.fetch([], [made]));
  expect(ranges).toEqual([[]]);
});

test('a write is not made twice if an old copy of the device sends it under another id within a year', async () => {
  const { world, prune } = await open();
  const device = await world.device();
  const sent = device.item({ query: newThing });
  await device.push(sent);
  world.now += 364 * DAY;
  expect(await prune()).toBe(0);
  const moved = new Device(world, ROOT, 'e'.repeat(32));
  const { now } = sent;
  const { idKey } = device;
  await moved.hello();
  const { verdicts } = await moved.push(moved.item({ query: newThing, now, idKey }));
  expect(verdicts).toMatchObject([{ state: 'confirmed' }]);
  expect(await count(world)).toBe(1);
});

test('a write is not made twice if an old copy of the device sends it after a year, even behind a newer write', async () => {
  const { world, prune } = await open();
  const device = await world.device();
  const sent = device.item({ query: newThing });
  await device.push(sent);
  world.now += 366 * DAY;
  await prune();
  const moved = new Device(world, ROOT, 'e'.repeat(32));
  const { now } = sent;
  const { idKey } = device;
  await moved.hello();
  // The clock of the copy was ahead when this write was made.
  const ahead = moved.item({ query: newThing, now: world.now + DAY, idKey });
  const { verdicts } = await moved.push(ahead, moved.item({ query: newThing, now, idKey }));
  expect(statesOf(verdicts)).toBe('amended refused');
  expect(await count(world)).toBe(2);
});

test('the number of devices per person is limited; devices absent for 30 days do not count', async () => {
  const { world } = await open();
  const secret = await world.user(1);
  const first = await world.device(secret);
  for (let i = 1; i < SYNC_LIMITS.devicesPerPerson; i++) await world.device(secret);
  const more = new Device(world, secret, 'f'.repeat(32));
  expect(await more.tryHello()).toMatchObject({
    code: 'too_many_devices',
    description: expect.stringContaining(`${SYNC_LIMITS.devicesPerPerson} devices`),
  });
  const { idKey } = first;
  expect(await more.tryPush(more.item({ query: newThing, idKey }))).toMatchObject({
    code: 'epoch_changed',
  });
  // The existing devices continue, also after a new login, and so do devices of others.
  first.secret = await world.login(1);
  await first.hello();
  await world.device(await world.user(2));
  await world.device(ROOT);
  world.now += 31 * DAY;
  await more.hello();
});
