import { expect, test } from 'vitest';
import { simulate } from './testing/simulation/simulate.ts';

test('devices and hub agree over a whole network', async () => {
  for (let seed = 1; seed <= 3; seed++) {
    const { problems } = await simulate(seed, { operations: 60, hasFaults: false });
    expect(problems, `seed ${seed}`).toEqual([]);
  }
});
