/** Seeds that once failed: each is a file, and is tried again each time. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Failure, KeptSeed } from './campaign.ts';

const FOLDER = fileURLToPath(new URL('seeds/', import.meta.url));

export function keptSeeds(): readonly KeptSeed[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(FOLDER + name, 'utf8')) as KeptSeed);
}

/** @returns what a person should read about it */
export function keepFailure({ seed, operations, problems, story }: Failure): string {
  mkdirSync(FOLDER, { recursive: true });
  const kept = { seed, operations, found: problems[0]?.slice(0, 300) };
  writeFileSync(`${FOLDER}${seed}.json`, `${JSON.stringify(kept, undefined, 2)}\n`);
  return `seed ${seed}\n${problems.join('\n')}\n${story.join('\n')}`;
}
