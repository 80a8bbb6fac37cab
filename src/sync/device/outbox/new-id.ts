/** How often a copy may take another device id: hubs of different histories at one address would give it one at each contact. */
import { Refusal } from '../../../errors.ts';
import { DAY_MICROS } from '../../../values/time.ts';
import type { Micros } from '../../../values/value.ts';
import type { ReplicaState } from '../state/replica-state.ts';

/** In a row; a person has `SYNC_LIMITS.devicesPerPerson` at most. */
const FREE = 8;
const FIRST_PAUSE: Micros = 60 * 1_000_000;
/** Without another id, and the next one is the first again. */
const QUIET: Micros = 2 * DAY_MICROS;

/** @param now of the device @throws Refusal `connection_needed` when another one would be too soon */
export function withIdTaken(state: ReplicaState, now: Micros): ReplicaState {
  const { at, count } = state.idsTaken ?? { at: -Infinity, count: 0 };
  const since = now - at;
  const pause = count < FREE ? 0 : Math.min(DAY_MICROS, FIRST_PAUSE * 2 ** (count - FREE));
  // A negative time says that the clock was set.
  if (since >= 0 && since < pause) throw new Refusal('connection_needed', TOO_SOON);
  return { ...state, idsTaken: { at: now, count: since > QUIET ? 1 : count + 1 } };
}

const TOO_SOON =
  'The hub has another history than at the last contact, time after time: hubs that do not share their data answer at one address.';
