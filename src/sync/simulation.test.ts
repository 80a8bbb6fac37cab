/** Half of the campaign: fixed seeds, and seeds that failed earlier. The other half: `simulation-second`. */
import { expect, test } from 'vitest';
import {
  countsAsText,
  notMet,
  OPERATIONS,
  runCampaign,
  seedsUntilMet,
} from './testing/simulation/campaign.ts';
import { CLUSTER_FAULT_NAMES } from './testing/simulation/nemesis.ts';
import { keepFailure, keptSeeds } from './testing/simulation/seeds.ts';
import { simulate } from './testing/simulation/simulate.ts';

const MINUTES = 60_000;
const clock = (): number => performance.now();

test('simulate() finds no problems without faults', async () => {
  const { problems } = await simulate(1, { operations: OPERATIONS, hasFaults: false });
  expect(problems).toEqual([]);
});

test(
  'simulate() finds no problems with two hub processes, one of which is suspended from time to time',
  async () => {
    const often = CLUSTER_FAULT_NAMES;
    const counts = new Map<string, number>();
    for (let seed = 1; seed <= 15; seed++) {
      const options = { operations: OPERATIONS, hasFaults: true, often };
      const { problems, counts: met } = await simulate(seed, options);
      expect(problems, `seed ${seed}`).toEqual([]);
      for (const [what, count] of met) counts.set(what, (counts.get(what) ?? 0) + count);
    }
    expect(often.filter((what) => !counts.has(what))).toEqual([]);
  },
  10 * MINUTES,
);

test(
  'simulate() finds no problems with seeds that once failed',
  async () => {
    const { failures } = await runCampaign(keptSeeds(), clock);
    for (const failure of failures) console.log(keepFailure(failure));
    expect(failures.map(({ seed, problems }) => [seed, problems])).toEqual([]);
  },
  10 * MINUTES,
);

test(
  'simulate() finds no problems with the fixed seeds, and every kind of fault occurs',
  async () => {
    const always = Array.from({ length: 100 }, (_, i) => i + 1);
    const counts = new Map<string, number>();
    const seeds = seedsUntilMet(always, counts);
    const { failures, tried, seedsPerSecond } = await runCampaign(seeds, clock, counts);
    console.log(
      `${tried} seeds, ${seedsPerSecond.toFixed(1)} each second\n${countsAsText(counts)}`,
    );
    for (const failure of failures) console.log(keepFailure(failure));
    expect(failures.map(({ seed, problems }) => [seed, problems])).toEqual([]);
    expect(notMet(counts)).toEqual([]);
  },
  20 * MINUTES,
);
