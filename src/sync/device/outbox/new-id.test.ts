import { expect, test } from 'vitest';
import { Refusal } from '../../../errors.ts';
import { DAY_MICROS } from '../../../values/time.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { withIdTaken } from './new-id.ts';

const NOW = 1_700_000_000_000_000;
const copyOf = (epoch: string) => ({ epoch: epoch }) as ReplicaState;

/** How many ids the copy takes at one time. */
function taken(state: ReplicaState, epochs: readonly string[]): number {
  let taken = 0;
  let at = state;
  for (const epoch of epochs)
    try {
      at = { ...withIdTaken(at, NOW, epoch), epoch };
      taken += 1;
    } catch (reason) {
      if (!(reason instanceof Refusal && reason.code === 'connection_needed')) throw reason;
    }
  return taken;
}

test('a hub that is recreated again and again, as in development, causes a new device id each time', () => {
  const epochs = Array.from({ length: 50 }, (_, n) => `made ${n}`);
  expect(taken(copyOf('first'), epochs)).toBe(50);
});

test('two hubs that alternate cause few new device ids', () => {
  const epochs = Array.from({ length: 50 }, (_, n) => `hub ${n % 2}`);
  expect(taken(copyOf('hub 1'), epochs)).toBeLessThan(12);
});

test('a copy whose clock was set back takes a new device id at once', () => {
  const state = withIdTaken(copyOf('hub'), NOW, 'hub');
  expect(withIdTaken(state, NOW - DAY_MICROS, 'hub').idsTaken).toMatchObject({
    at: NOW - DAY_MICROS,
    count: 2,
  });
});

test('a hub that goes back within its epoch causes one new device id, and others only after pauses of up to a day', () => {
  const epochs = Array.from({ length: 50 }, () => 'hub');
  expect(taken(copyOf('hub'), epochs)).toBe(1);
  let state = copyOf('hub');
  let now = NOW;
  let count = 0;
  for (; count < 200; now += DAY_MICROS / 24, count += 1)
    try {
      state = withIdTaken(state, now, 'hub');
    } catch (reason) {
      if (!(reason instanceof Refusal && reason.code === 'connection_needed')) throw reason;
    }
  // Several at once, then fewer, then one a day.
  expect(state.idsTaken?.count).toBeGreaterThan(12);
  expect(state.idsTaken?.count).toBeLessThan(24);
  expect(withIdTaken(state, now + 3 * DAY_MICROS).idsTaken).toMatchObject({ count: 1 });
});
