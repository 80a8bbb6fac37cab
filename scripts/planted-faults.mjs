/**
 * Shows that the reference model finds the faults that it is meant to find. Each fault of `faults.mjs` replaces one piece of code of the
 * engine, and the model's random queries must find it within their usual number of cases. Some faults concern the hub's use of recorded
 * times and are found by a test of their own. A seed may miss a fault that occurs rarely: then further seeds are tried.
 *
 *   node scripts/planted-faults.mjs [name…]      seeds as for the test: BURROW_MODEL_SEED, BURROW_MODEL_CASES
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { FAULTS, MODEL, SOURCES } from './faults.mjs';

const CASES = Number(process.env['BURROW_MODEL_CASES'] ?? 4000);
const SEED = Number(process.env['BURROW_MODEL_SEED'] ?? Date.now() % 1_000_000_000);

/** Seeds to try for each fault, one after the other. */
const SEEDS_MAX = 5;

/** Rolldown plugin that replaces one text of a source file by another. */
const planting = (file, from, to) => ({
  name: 'planted-fault',
  load: async (id) => {
    if (resolve(id) !== resolve(SOURCES, file)) return null;
    const source = await readFile(id, 'utf8');
    if (source.split(from).length !== 2)
      throw new Error(`${file} must contain this text exactly once: ${from}`);
    return { code: source.replace(from, () => to), moduleType: 'ts' };
  },
});

async function playWith([name, file, from, to, game = MODEL], folder) {
  const bundle = await rolldown({
    input: join(SOURCES, game),
    platform: 'node',
    plugins: [planting(file, from, to)],
  });
  const out = join(folder, `${name.replaceAll(/\W/g, '-')}.mjs`);
  await bundle.write({ file: out, format: 'es' });
  await bundle.close();
  const { play } = await import(pathToFileURL(out).href);
  return untilMet(play);
}

/** Tries the given seed and the following ones until one finds the fault. */
async function untilMet(play) {
  const tally = { values: 0, faults: 0, seeds: 0 };
  for (let seed = SEED; tally.seeds < SEEDS_MAX; seed += 1) {
    const { difference, values, faults } = await play(CASES, seed);
    tally.values += values;
    tally.faults += faults;
    tally.seeds += 1;
    if (difference) return { ...tally, difference };
  }
  return { ...tally, difference: undefined };
}

const asked = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'burrow-faults-'));
const missed = [];
for (const fault of FAULTS) {
  const [name] = fault;
  if (asked.length > 0 && !asked.includes(name)) continue;
  const started = performance.now();
  const { difference, values, faults, seeds } = await playWith(fault, folder);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (!difference) missed.push(name);
  console.log(
    `${difference ? `found after ${values + faults}` : 'MISSED'}: ${name} (${seconds} s, seeds: ${seeds})`,
  );
}
await rm(folder, { recursive: true });
if (missed.length > 0) {
  console.error(
    `Not found within ${CASES} cases of ${SEEDS_MAX} seeds from ${SEED} on: ${missed.join('; ')}.`,
  );
  process.exitCode = 1;
}
