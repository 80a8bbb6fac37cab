/** Parts of the campaign: seeds that are always the same, fresh ones, or those that are asked for. */
import { randomInt } from 'node:crypto';
import { countsAsText, OPERATIONS, runCampaign, type Failure, type KeptSeed } from './campaign.ts';
import { keepFailure } from './seeds.ts';

const { BURROW_SIMULATION_SEED: asked, BURROW_SIMULATION_SEEDS: fresh } = process.env;
const ALWAYS = 100;

/**
 * A build that fails tells of the change, and not of luck: what it tries is the same each time. Seeds that nobody has tried are asked for.
 * @param first of those that are always tried
 */
export function seedsFrom(first: number): readonly KeptSeed[] {
  const from = asked ?? (fresh === undefined ? first : randomInt(10_000, 4_000_000_000));
  const length = Number(fresh ?? (asked === undefined ? ALWAYS : 1));
  return Array.from({ length }, (_, i) => ({ seed: Number(from) + i, operations: OPERATIONS }));
}

/** Prints what was done, and of each failure how it came about and how to see it again; each becomes a file. */
export async function runSeeds(
  seeds: readonly KeptSeed[],
): Promise<readonly (readonly [Failure['seed'], Failure['problems']])[]> {
  const { failures, counts, seedsPerSecond } = await runCampaign(seeds, () => performance.now());
  const speed = `${seedsPerSecond.toFixed(1)} each second`;
  console.log(`${seeds.length} seeds from ${seeds[0]?.seed} on, ${speed}\n${countsAsText(counts)}`);
  for (const failure of failures) console.log(keepFailure(failure));
  return failures.map(({ seed, problems }) => [seed, problems]);
}
