/** A third of the campaign: seeds that are always the same, and those that once failed. The others: `simulation-second`, `simulation-third`. */
import { expect, test } from 'vitest';
import { countsAsText, notMet, OPERATIONS, runCampaign } from './testing/simulation/campaign.ts';
import { keepFailure, keptSeeds } from './testing/simulation/seeds.ts';
import { simulate } from './testing/simulation/simulate.ts';

const MINUTES = 60_000;
const clock = (): number => performance.now();

test('simulate() finds nothing where nothing goes wrong', async () => {
  const { problems } = await simulate(1, { operations: OPERATIONS, hasFaults: false });
  expect(problems).toEqual([]);
});

test(
  'simulate() finds nothing in seeds that once failed',
  async () => {
    const { failures } = await runCampaign(keptSeeds(), clock);
    for (const failure of failures) console.log(keepFailure(failure));
    expect(failures.map(({ seed, problems }) => [seed, problems])).toEqual([]);
  },
  10 * MINUTES,
);

test(
  'simulate() finds nothing in the seeds that are always tried, and all that can go wrong went wrong',
  async () => {
    // In the last two a tab dies where none of the others does.
    const numbers = [...Array.from({ length: 100 }, (_, i) => i + 1), 1210, 1241];
    const seeds = numbers.map((seed) => ({ seed, operations: OPERATIONS }));
    const { failures, counts, seedsPerSecond } = await runCampaign(seeds, clock);
    console.log(
      `${seeds.length} seeds, ${seedsPerSecond.toFixed(1)} each second\n${countsAsText(counts)}`,
    );
    for (const failure of failures) console.log(keepFailure(failure));
    expect(failures.map(({ seed, problems }) => [seed, problems])).toEqual([]);
    expect(notMet(counts)).toEqual([]);
  },
  20 * MINUTES,
);
