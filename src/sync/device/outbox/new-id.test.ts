import { expect, test } from 'vitest';
import { Refusal } from '../../../errors.ts';
import { DAY_MICROS } from '../../../values/time.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { withIdTaken } from './new-id.ts';

const NOW = 1_700_000_000_000_000;
const copyOf = (epoch: string) => ({ epoch: epoch }) as ReplicaState;

/** Ids that the copy takes at one time. */
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

test('a hub that is made anew again and again, as in development, gives an id each time', () => {
  const epochs = Array.from({ length: 50 }, (_, n) => `made ${n}`);
  expect(taken(copyOf('first'), epochs)).toBe(50);
});

test('hubs that are met by turns give few', () => {
  const epochs = Array.from({ length: 50 }, (_, n) => `hub ${n % 2}`);
  expect(taken(copyOf('hub 1'), epochs)).toBeLessThan(12);
});

test('a hub that goes back in its own epoch gives few, and one more after a pause', () => {
  const epochs = Array.from({ length: 50 }, () => 'hub');
  expect(taken(copyOf('hub'), epochs)).toBe(8);
  let state = copyOf('hub');
  for (let n = 0; n < 8; n++) state = withIdTaken(state, NOW, 'hub');
  expect(withIdTaken(state, NOW + DAY_MICROS).idsTaken).toMatchObject({ count: 9 });
  expect(withIdTaken(state, NOW + 3 * DAY_MICROS).idsTaken).toMatchObject({ count: 1 });
});
