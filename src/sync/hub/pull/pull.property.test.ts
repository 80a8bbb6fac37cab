/** A device that pulls has exactly what its credential may read of its sets, and learns of nothing else, whatever happens at the hub. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyStep, RandomHub } from '../../testing/random-hub.ts';

test('I4 I6 S4 S9 S14 a device has exactly the readable documents of its sets, and learns of no others', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { minLength: 5, maxLength: 60, size: 'max' }),
      async (steps) => {
        const run = await RandomHub.open();
        for (const each of steps) await run.take(each);
        for (const who of run.devices.keys()) await run.catchUp(who, 1e6);
        expect(run.leaked()).toEqual([]);
      },
    ),
    { numRuns: 80 },
  );
});
