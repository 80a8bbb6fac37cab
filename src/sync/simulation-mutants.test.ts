/** Faults planted on purpose: an invariant that lets one of them pass proves nothing. */
import { expect, test } from 'vitest';
import { OPERATIONS } from './testing/simulation/campaign.ts';
import { MUTANTS } from './testing/simulation/mutants.ts';
import { simulate } from './testing/simulation/simulate.ts';

const SEEDS_MAX = 40;

test.each(MUTANTS)(
  'simulate() notices when %s',
  async (mutant) => {
    for (let seed = 1; seed <= SEEDS_MAX; seed++) {
      const { problems } = await simulate(seed, {
        operations: OPERATIONS,
        hasFaults: true,
        mutant,
      });
      if (problems.length === 0) continue;
      console.log(`${mutant}: seed ${seed}, ${problems[0]?.slice(0, 160)}`);
      return;
    }
    expect.unreachable(`nothing was found in ${SEEDS_MAX} seeds`);
  },
  300_000,
);
