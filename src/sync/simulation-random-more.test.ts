/** Another third of the campaign, in a file of its own: so that it runs beside the first. */
import { expect, test } from 'vitest';
import { freshSeeds, runFresh } from './testing/simulation/fresh-seeds.ts';

test(
  'simulate() finds nothing in more seeds that nobody has tried',
  async () => {
    expect(await runFresh(freshSeeds())).toEqual([]);
  },
  20 * 60_000,
);
