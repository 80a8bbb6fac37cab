/** Random times claimed by devices. scripts/planted-faults.mjs has the faults that this test must find. */
import { expect, test } from 'vitest';
import { seedOf } from '../engine/testing/random-source.ts';
import { play } from './testing/recorded-times.ts';

test('T19 Now() of a push is bounded by the hub’s clock and the last contact, and hidden from functions with their own role', async () => {
  const seed = seedOf('BURROW_TIMES_SEED');
  console.log(`seed ${seed}`);
  expect((await play(400, seed)).difference).toBeUndefined();
});
