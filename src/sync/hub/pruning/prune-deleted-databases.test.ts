import { expect, test } from 'vitest';
import { coll, create, obj } from '../../../engine/testing/engine-world.ts';
import { createMemoryStore } from '../../../store/memory.ts';
import { syncKey, type Key } from '../../../codec/key.ts';
import type { Store } from '../../../store/port.ts';
import { pruneDeletedDatabases } from './prune-deleted-databases.ts';
import { HubWorld } from '../../testing/hub-world.ts';
import { EVERY_KEY } from '../../../codec/ranges.ts';
import { scan } from '../../../store/scan.ts';

/** All keys in the space `sync`. */
async function syncKeys(store: Store): Promise<readonly Key[]> {
  const range = scan('sync', EVERY_KEY, { rows: false });
  const { ranges } = await store.read((tx) => tx.fetch([], [range]), { spaces: ['sync'] });
  return (ranges[0] ?? []).map(({ key }) => key);
}

async function adminOf(world: HubWorld, name: string, within?: string): Promise<string> {
  const as = within === undefined ? {} : { secret: within };
  await world.ask({ create_database: obj({ name }) }, as);
  const key = await world.document(
    { create_key: obj({ role: 'admin', database: { database: name } }) },
    as,
  );
  await world.ask({ create_collection: obj({ name: 'notes' }) }, { secret: key.secret });
  return key.secret;
}

test('pruneDeletedDatabases() deletes the sync rows of deleted databases only', async () => {
  const store = createMemoryStore();
  const world = await HubWorld.open(store);
  const host = world.pruneHost;
  await world.ask({ create_collection: obj({ name: 'notes' }) });
  const kept = await adminOf(world, 'kept');
  const within = await adminOf(world, 'within', kept);
  const gone = await adminOf(world, 'gone');
  const below = await adminOf(world, 'below', gone);
  const perDatabase: number[] = [];
  for (const secret of [undefined, kept, within, gone, below]) {
    const before = (await syncKeys(store)).length;
    const device = await world.device(secret);
    for (let n = 0; n < 3; n += 1) {
      const write = device.item({ query: create(coll('notes'), { n }) });
      expect((await device.push(write)).verdicts).toHaveLength(1);
    }
    perDatabase.push((await syncKeys(store)).length - before);
  }
  const all = await syncKeys(store);
  expect(await pruneDeletedDatabases(host)).toBe(0);
  expect(await syncKeys(store)).toEqual(all);

  await world.ask({ delete: { database: 'gone' } });
  const left = await syncKeys(store);
  const pruned = await pruneDeletedDatabases(host);
  expect(pruned).toBeGreaterThanOrEqual((perDatabase[3] ?? 0) + (perDatabase[4] ?? 0));
  expect(await syncKeys(store)).toHaveLength(left.length - pruned);
  expect(await pruneDeletedDatabases(host)).toBe(0);
  for (const secret of [undefined, kept, within]) {
    const device = await world.device(secret);
    const write = device.item({ query: create(coll('notes'), {}) });
    expect((await device.push(write)).verdicts).toHaveLength(1);
  }
});

test('pruneDeletedDatabases() also deletes the log of a database that was created after an earlier call', async () => {
  const store = createMemoryStore();
  const world = await HubWorld.open(store);
  const host = world.pruneHost;
  await adminOf(world, 'kept');
  expect(await pruneDeletedDatabases(host)).toBe(0);
  const before = await syncKeys(store);
  await adminOf(world, 'gone');
  await world.ask({ delete: { database: 'gone' } });
  expect(await pruneDeletedDatabases(host)).toBeGreaterThan(0);
  const isOfRoot = (key: Key) => key.startsWith(syncKey('changes', 0));
  expect((await syncKeys(store)).filter((key) => !isOfRoot(key))).toEqual(
    before.filter((key) => !isOfRoot(key)),
  );
});
