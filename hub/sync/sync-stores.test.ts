/** The sync hub, tested over the stores that a hub can have. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { coll, create, obj } from '../../src/engine/testing/engine-world.ts';
import { HubWorld } from '../../src/sync/testing/hub-world.ts';
import { anyStep, RandomHub } from '../../src/sync/testing/random-hub.ts';
import { openTables } from '../store/sql-tables.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';

const { pglite, postgres } = sharedDatabases();

for (const [name, database] of Object.entries({ PGlite: pglite, PostgreSQL: postgres })) {
  test(`${name}: a hundred writes share few commits and come back with the next pull`, async () => {
    const shared = await database();
    const store = await openTables(shared, freshTenant());
    const world = await HubWorld.open(store);
    await world.ask({ create_collection: obj({ name: 'things' }) });
    const device = (await world.device()).watch({ documents: coll('things') });
    await device.pull();
    const writes = Array.from({ length: 100 }, (_, n) =>
      device.item({ query: create(coll('things'), { n }), ids: [String(n + 1000)] }),
    );
    let commits = 0;
    const stop = world.engine.onCommit(() => (commits += 1));
    const { verdicts } = await device.push(...writes);
    stop();
    expect(commits).toBeLessThanOrEqual(3);
    expect(verdicts.every(({ state }) => state === 'confirmed')).toBe(true);
    expect(await device.push(...writes)).toMatchObject({ verdicts });
    await device.pull();
    expect(device.documents.size).toBe(100);
    await store.close();
  });

  test(`${name}: I4 I6 S9 S14 a device has what it may read of its sets, and learns of nothing else`, async () => {
    const shared = await database();
    const steps = fc.array(anyStep, { minLength: 20, maxLength: 40, size: 'max' });
    await fc.assert(
      fc.asyncProperty(steps, async (each) => {
        const store = await openTables(shared, freshTenant());
        const lease = { term: () => (shared.isExclusive ? 1 : undefined) };
        const run = await RandomHub.open(store, { lease });
        for (const step of each) await run.take(step);
        for (const who of run.devices.keys()) await run.catchUp(who, 1e6);
        expect(run.leaked()).toEqual([]);
        await store.close();
      }),
      { numRuns: 4 },
    );
  });
}
