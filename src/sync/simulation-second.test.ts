/** Half of the campaign, in a file of its own so that it runs in parallel. `BURROW_SIMULATION_SEEDS=500` tries new random seeds. */
import { expect, test } from 'vitest';
import { runSeeds, seedsFrom } from './testing/simulation/some-seeds.ts';

test(
  'simulate() finds no problems with the second hundred seeds',
  async () => {
    expect(await runSeeds(seedsFrom(101))).toEqual([]);
  },
  20 * 60_000,
);
