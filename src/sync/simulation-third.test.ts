/** The last third of the campaign. */
import { expect, test } from 'vitest';
import { runSeeds, seedsFrom } from './testing/simulation/some-seeds.ts';

test(
  'simulate() finds no problems with the third hundred seeds',
  async () => {
    expect(await runSeeds(seedsFrom(201))).toEqual([]);
  },
  20 * 60_000,
);
