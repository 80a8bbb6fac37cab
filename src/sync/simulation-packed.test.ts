/** Devices with packed stores, as in a browser. The same invariants check the results of flushes, merges and crashes. */
import { expect, test } from 'vitest';
import { countsAsText, OPERATIONS } from './testing/simulation/campaign.ts';
import { PACKED_EXPECTED, PackedDisk } from './testing/simulation/packed-disk.ts';
import { simulate } from './testing/simulation/simulate.ts';

const SEEDS = 10;
const MINUTES = 60_000;

/** @param dropsDeletions a planted fault */
const onPackedStores = (seed: number, dropsDeletions = false) =>
  simulate(seed, {
    operations: OPERATIONS,
    hasFaults: true,
    // In every other seed, nearly all faults are crashes of tabs.
    ...(seed % 2 === 0 && { often: 'tab doomed' }),
    diskIn: (world) => new PackedDisk(world, dropsDeletions),
  });

test(
  'simulate() finds no problems with packed stores',
  async () => {
    const counts = new Map<string, number>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { problems, counts: met } = await onPackedStores(seed);
      expect(problems, `seed ${seed}`).toEqual([]);
      for (const [what, count] of met) counts.set(what, (counts.get(what) ?? 0) + count);
    }
    console.log(countsAsText(counts));
    expect(PACKED_EXPECTED.filter((what) => !counts.has(what))).toEqual([]);
  },
  10 * MINUTES,
);

test(
  'simulate() notices when deletions are dropped too early',
  async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { problems } = await onPackedStores(seed, true);
      if (problems.length === 0) continue;
      console.log(`seed ${seed}, ${problems[0]?.slice(0, 160)}`);
      return;
    }
    expect.unreachable(`nothing was found in ${SEEDS} seeds`);
  },
  10 * MINUTES,
);
