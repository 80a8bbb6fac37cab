/** The other half of the campaign: seeds that nobody has tried. */
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { countsAsText, notMet, OPERATIONS, runCampaign } from './testing/simulation/campaign.ts';
import { keepFailure } from './testing/simulation/seeds.ts';

/** On demand: about one seed in twenty still finds what nobody has explained (docs/decisions/0009-sync.md). */
const COUNT = Number(process.env['BURROW_SIMULATION_SEEDS'] ?? 0);

test.runIf(COUNT > 0)(
  'simulate() finds nothing in seeds that nobody has tried',
  async () => {
    const first = randomInt(1000, 4_000_000_000);
    console.log(`${COUNT} seeds from ${first} on`);
    const seeds = Array.from({ length: COUNT }, (_, i) => ({
      seed: first + i,
      operations: OPERATIONS,
    }));
    const { failures, counts, seedsPerSecond } = await runCampaign(seeds, () => performance.now());
    console.log(`${seedsPerSecond.toFixed(1)} seeds each second\n${countsAsText(counts)}`);
    for (const failure of failures) console.log(keepFailure(failure));
    expect(failures.map(({ seed, problems }) => [seed, problems])).toEqual([]);
    expect(notMet(counts)).toEqual([]);
  },
  20 * 60_000,
);
