/** Seeds that nobody has tried, or the one that is asked for. */
import { randomInt } from 'node:crypto';
import { countsAsText, OPERATIONS, runCampaign, type Failure, type KeptSeed } from './campaign.ts';
import { keepFailure } from './seeds.ts';

const { BURROW_SIMULATION_SEED: asked, BURROW_SIMULATION_SEEDS: count = '100' } = process.env;

export function freshSeeds(): readonly KeptSeed[] {
  const first = asked === undefined ? randomInt(10_000, 4_000_000_000) : Number(asked);
  const length = asked === undefined ? Number(count) : 1;
  return Array.from({ length }, (_, i) => ({ seed: first + i, operations: OPERATIONS }));
}

/** Prints what was done, and of each failure how it came about and how to see it again; each becomes a file. */
export async function runFresh(
  seeds: readonly KeptSeed[],
): Promise<readonly (readonly [Failure['seed'], Failure['problems']])[]> {
  const { failures, counts, seedsPerSecond } = await runCampaign(seeds, () => performance.now());
  const speed = `${seedsPerSecond.toFixed(1)} each second`;
  console.log(`${seeds.length} seeds from ${seeds[0]?.seed} on, ${speed}\n${countsAsText(counts)}`);
  for (const failure of failures) console.log(keepFailure(failure));
  return failures.map(({ seed, problems }) => [seed, problems]);
}
