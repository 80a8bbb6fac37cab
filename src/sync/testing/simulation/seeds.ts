/** Seeds that failed earlier. Each is a file, and is tried in every run. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Failure, KeptSeed } from './campaign.ts';

const ONE = 'src/sync/simulation-second.test.ts';
const KEPT = 'src/sync/simulation.test.ts';
const FOLDER = fileURLToPath(new URL('seeds/', import.meta.url));

export function keptSeeds(): readonly KeptSeed[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(FOLDER + name, 'utf8')) as KeptSeed);
}

/** @returns a report for developers */
export function keepFailure({ seed, operations, often, problems, story }: Failure): string {
  mkdirSync(FOLDER, { recursive: true });
  const kept = { seed, operations, often, found: problems[0]?.slice(0, 300) };
  const file = `${FOLDER}${seed}.json`;
  // An existing file has a final description of the failure, so it is kept.
  if (!existsSync(file)) writeFileSync(file, `${JSON.stringify(kept, undefined, 2)}\n`);
  const run = 'npx vitest run --project node';
  const again =
    often === undefined ? `BURROW_SIMULATION_SEED=${seed} ${run} ${ONE}` : `${run} ${KEPT}`;
  return `seed ${seed}\n${story.join('\n')}\n${problems.join('\n')}\nagain: ${again}\n`;
}
