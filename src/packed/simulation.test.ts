/**
 * Simulates tabs on one medium, which stop at every await, in an order that a seed determines. BURROW_PACKED_SEEDS sets
 * the number of seeds (default: 300; in CI 1,000), BURROW_SEED the first one.
 */
import { expect, test } from 'vitest';
import { seedOf } from '../engine/testing/random-source.ts';
import { Crossings } from './testing/simulation/crossings.ts';
import { PLANTED_FAULTS, type PlantedFault } from './testing/simulation/faults.ts';
import { Simulation } from './testing/simulation/simulation.ts';

const SEEDS = Number(process.env['BURROW_PACKED_SEEDS'] ?? (process.env['CI'] ? 1000 : 300));
const FIRST = seedOf('BURROW_SEED');

test(`two tabs lose no write and read only committed states, from seed ${FIRST}`, async () => {
  const all = new Crossings();
  for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
    const crossings = await runSeed(seed);
    all.add(crossings);
  }
  expect(all.never).toEqual([]);
});

test.each(PLANTED_FAULTS)('the simulation detects a planted fault: %s', async (fault) => {
  expect(await seedThatFinds(fault)).toBeGreaterThan(0);
});

async function runSeed(seed: number, fault?: PlantedFault): Promise<Crossings> {
  try {
    return await new Simulation(seed, fault).run();
  } catch (reason) {
    throw new Error(`BURROW_SEED=${seed} fails: ${String(reason)}`, { cause: reason });
  }
}

/** Number of seeds tried until one failed. 0 if none failed. */
async function seedThatFinds(fault: PlantedFault): Promise<number> {
  for (let tried = 1; tried <= SEEDS; tried += 1) {
    const found = await runSeed(FIRST + tried, fault).then(
      () => false,
      () => true,
    );
    if (found) return tried;
  }
  return 0;
}
