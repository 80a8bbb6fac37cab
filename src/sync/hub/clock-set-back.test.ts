/** A hub whose clock is set back by more than the time for which devices and verdicts are kept. */
import { expect, test } from 'vitest';
import { coll, create, obj } from '../../engine/testing/engine-world.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { DAY_MICROS } from '../../values/time.ts';
import { HubWorld, statesOf } from '../testing/hub-world.ts';
import { pruneDevices } from './pruning/prune-devices.ts';

const BACK = 400 * DAY_MICROS;

async function open() {
  const world = await HubWorld.open();
  await world.ask({ create_collection: obj({ name: 'things' }) });
  const committed = world.now;
  world.now -= BACK;
  return { world, committed, device: await world.device() };
}

test('devices get the time of the last commit, and their writes are confirmed before and after the clock is right again (F26)', async () => {
  const { world, committed, device } = await open();
  const { hubTime } = await device.hello();
  expect(hubTime).toBeGreaterThanOrEqual(committed);
  const write = (n: number) => create(coll('things'), { n, at: { to_micros: { now: null } } });
  const first = device.item({ query: write(1), now: hubTime });
  const unsent = device.item({ query: write(2), now: hubTime });
  const { verdicts } = await device.push(first);
  world.now += BACK;
  const later = await device.push(unsent);
  expect(statesOf([...verdicts, ...later.verdicts])).toBe('confirmed confirmed');
  const times = await world.page({
    map: { lambda: 'x', expr: { select: ['data', 'at'], from: { get: { var: 'x' } } } },
    collection: { paginate: { documents: coll('things') } },
  });
  expect(times).toEqual([hubTime, hubTime]);
});

test('a device that had contact meanwhile is not pruned as idle when the clock is right again', async () => {
  const { world, device } = await open();
  world.now += BACK;
  expect(await pruneDevices(world.pruneHost, world.now - SYNC_LIMITS.devicesKeptMicros)).toBe(0);
  const { verdicts } = await device.push(device.item({ query: create(coll('things'), {}) }));
  expect(verdicts).toMatchObject([{ state: 'confirmed' }]);
});
