/** Parts of the campaign: fixed seeds, new random ones, or requested ones. */
import { randomInt } from 'node:crypto';
import { countsAsText, OPERATIONS, runCampaign, type Failure, type KeptSeed } from './campaign.ts';
import { keepFailure } from './seeds.ts';

const { BURROW_SIMULATION_SEED: asked, BURROW_SIMULATION_SEEDS: fresh } = process.env;
const ALWAYS = 100;

/**
 * Fixed by default: a failing build must be caused by a change, not by chance. New random seeds are used only on request.
 * @param first of the fixed seeds
 */
export function seedsFrom(first: number): readonly KeptSeed[] {
  const from = asked ?? (fresh === undefined ? first : randomInt(10_000, 4_000_000_000));
  const length = Number(fresh ?? (asked === undefined ? ALWAYS : 1));
  return Array.from({ length }, (_, i) => ({ seed: Number(from) + i, operations: OPERATIONS }));
}

/** Prints the counts, and for each failure its events and how to reproduce it. Stores each failure in a file. */
export async function runSeeds(
  seeds: readonly KeptSeed[],
): Promise<readonly (readonly [Failure['seed'], Failure['problems']])[]> {
  const { failures, counts, seedsPerSecond } = await runCampaign(seeds, () => performance.now());
  const speed = `${seedsPerSecond.toFixed(1)} each second`;
  console.log(`${seeds.length} seeds from ${seeds[0]?.seed} on, ${speed}\n${countsAsText(counts)}`);
  for (const failure of failures) console.log(keepFailure(failure));
  return failures.map(({ seed, problems }) => [seed, problems]);
}
