/** A third of the campaign: seeds that nobody has tried. */
import { expect, test } from 'vitest';
import { freshSeeds, runFresh } from './testing/simulation/fresh-seeds.ts';

test(
  'simulate() finds nothing in seeds that nobody has tried',
  async () => {
    expect(await runFresh(freshSeeds())).toEqual([]);
  },
  20 * 60_000,
);
