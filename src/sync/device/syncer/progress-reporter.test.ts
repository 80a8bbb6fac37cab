import { expect, test } from 'vitest';
import { DeviceWorld, WELCOMED } from '../../testing/device-world.ts';
import { FenceHolder } from './fence-holder.ts';
import { ProgressReporter } from './progress-reporter.ts';
import type { ReplicaProgress } from './syncer-options.ts';

const SECOND = 1_000_000;

test('the remaining time of a load is estimated from its speed if the number of documents is known', async () => {
  const { replica } = new DeviceWorld();
  await replica.adopt('hub', WELCOMED, 'd'.repeat(32));
  const state = await replica.state();
  if (!state) throw new Error('It is no copy.');
  let now = 0;
  const told: ReplicaProgress[] = [];
  const reporter = new ProgressReporter(
    {
      replica,
      clock: () => now,
      events: {
        onState: () => undefined,
        onVerdict: () => undefined,
        onFiles: () => undefined,
        onProgress: (progress) => told.push(progress),
        onRound: () => undefined,
        onSuperseded: () => undefined,
        onFault: () => undefined,
      },
    },
    new FenceHolder(replica),
  );
  const [notes] = await setsOf(replica);
  if (!notes) throw new Error('There is no set.');
  /** @param of number of documents in the set @param isLoaded whether all of them have come */
  const report = async (at: number, rows: number, of?: number, isLoaded = false) => {
    now = at * SECOND;
    const loaded = [isLoaded ? undefined : '01'];
    await reporter.report({ ...state, sets: [{ ...notes, rows, of, loaded }] });
    return told.at(-1)?.remainingMs;
  };
  expect(await report(0, 100, 1000)).toBe(undefined);
  expect(await report(1, 200, 1000)).toBe(8000);
  expect(await report(2, 200, 1000)).toBe(16_000);
  expect(await report(3, 700, 1000)).toBe(1500);
  expect(await report(4, 1000, 1000, true)).toBe(undefined);
  // When sets load again, the speed is measured anew.
  expect(await report(60, 0, 100)).toBe(undefined);
  expect(await report(61, 50, 100)).toBe(1000);
  expect(await report(62, 50)).toBe(undefined);
});

async function setsOf(replica: DeviceWorld['replica']) {
  await replica.setSets([{ id: 'notes', query: 'notes' }]);
  return (await replica.state())?.sets ?? [];
}
