/** What a query has made is garbage once it is answered: what V8 believes to live for long is kept until it collects everything. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { EngineWorld } from '../testing/engine-world.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

/**
 * Bytes of each of them that collections of young objects leave, in the best of five rounds: code
 * that V8 compiles meanwhile and what else runs in the process is in one of them, what a query
 * leaves is in all.
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

test('query() leaves nothing of itself to a full collection', async () => {
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
  // A sum that stayed would take 6 kB, a page 27. On a busy machine V8 keeps of a page, which is in
  // use over many turns, up to 11 kB until its next full collection.
  expect(ofSum).toBeLessThan(4_000);
  expect(ofPage).toBeLessThan(18_000);
});
