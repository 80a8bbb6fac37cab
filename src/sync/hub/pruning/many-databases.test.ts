/** Pruning at a hub with many databases: most have nothing to prune, and queries wait while a commit is made. */
import { expect, test } from 'vitest';
import { coll, create, obj, ROOT } from '../../../engine/testing/engine-world.ts';
import { range } from '../../../engine/testing/large-values.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { createMemoryStore } from '../../../store/memory.ts';
import type { Store } from '../../../store/port.ts';
import { HubWorld } from '../../testing/hub-world.ts';
import { pruneChanges } from './prune-changes.ts';
import { pruneDeletedDatabases } from './prune-deleted-databases.ts';
import { pruneDevices } from './prune-devices.ts';

const DATABASES = 40;
/** The databases that devices have used. */
const USED = [3, 20, 37];
const secretOf = (n: number): string => `${ROOT}:d${n}:admin`;

async function world() {
  const store = createMemoryStore();
  const first = await HubWorld.open(store);
  for (const n of range(DATABASES)) await first.ask({ create_database: obj({ name: `d${n}` }) });
  for (const n of USED) {
    await first.ask({ create_collection: obj({ name: 'notes' }) }, { secret: secretOf(n) });
    const device = await first.device(secretOf(n));
    await device.push(device.item({ query: create(coll('notes'), { n }) }));
  }
  const counts = { reads: 0, writes: 0, pauses: 0 };
  const counted: Store = {
    ...store,
    read(body, options) {
      counts.reads += 1;
      return store.read(body, options);
    },
    write(body, options) {
      counts.writes += 1;
      return store.write(body, options);
    },
  };
  const second = await HubWorld.open(counted);
  counts.reads = 0;
  counts.writes = 0;
  second.now = first.now;
  const host = {
    ...second.pruneHost,
    async pause() {
      counts.pauses += 1;
    },
  };
  return { second, host, counts };
}

test('pruning reads only databases that have rows, pauses after each, and writes nothing if nothing is old', async () => {
  const { second, host, counts } = await world();
  expect(await pruneChanges(host, second.now - SYNC_LIMITS.changesKeptMicros)).toBe(0);
  // The log has rows of the root, too. Each of the two lists is read once more, for its end.
  const logs = USED.length + 1;
  expect(counts.reads).toBe(logs + 1 + USED.length + 1);
  expect(counts.pauses).toBe(logs + USED.length);
  counts.reads = 0;
  expect(await pruneDevices(host, second.now - SYNC_LIMITS.devicesKeptMicros)).toBe(0);
  expect(counts.reads).toBe(2 * USED.length + 1);
  expect(await pruneDeletedDatabases(host)).toBe(0);
  expect(counts.writes).toBe(0);
});

test('pruneChanges() writes only in the databases whose changes are old', async () => {
  const { second, host, counts } = await world();
  second.tick();
  const old = second.now;
  second.now += SYNC_LIMITS.changesKeptMicros;
  await second.ask({ create_database: obj({ name: 'new' }) });
  await second.ask({ create_collection: obj({ name: 'notes' }) }, { secret: `${ROOT}:new:admin` });
  counts.writes = 0;
  expect(await pruneChanges(host, old)).toBeGreaterThan(USED.length);
  // The root, too.
  expect(counts.writes).toBe(USED.length + 1);
  expect(await pruneChanges(host, old)).toBe(0);
  expect(counts.writes).toBe(USED.length + 1);
});
