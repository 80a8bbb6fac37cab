/**
 * Objects created by a query are garbage once it is answered. Objects that V8 promotes to the old generation stay until a full collection.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { EngineWorld } from '../testing/engine-world.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

/**
 * Bytes that each query leaves after minor collections, in the best of five rounds: code that V8 compiles, and other work of the process,
 * affect only some rounds; objects that a query leaves affect all.
 */
async function leftBy(ask: () => Promise<unknown>): Promise<number> {
  const times = 300;
  for (let i = 0; i < times; i++) await ask();
  let least = Infinity;
  for (let round = 0; round < 5; round++) {
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < times; i++) await ask();
    for (let i = 0; i < 4; i++) collect({ type: 'minor' });
    least = Math.min(least, (process.memoryUsage().heapUsed - before) / times);
  }
  return least;
}

test('query() leaves no objects in memory that only a full garbage collection removes', async () => {
  const world = new EngineWorld();
  await world.ask({ create_collection: { object: { name: 'notes' } } });
  for (let i = 0; i < 64; i++) {
    await world.ask({
      create: { ref: { collection: 'notes' }, id: String(i + 1) },
      params: { object: { data: { object: { text: 'x'.repeat(100) } } } },
    });
  }
  const ofSum = await leftBy(() => world.answer({ add: [1, 2] }));
  const ofPage = await leftBy(() =>
    world.answer({
      map: { lambda: 'ref', expr: { get: { var: 'ref' } } },
      collection: { paginate: { documents: { collection: 'notes' } }, size: 64 },
    }),
  );
  // A sum that stayed in memory would take 6 kB, a page 27. Of a page, which is used over many turns of the event loop, V8 keeps up to 11
  // kB until its next full collection on a busy machine.
  expect(ofSum).toBeLessThan(4_000);
  expect(ofPage).toBeLessThan(18_000);
});
