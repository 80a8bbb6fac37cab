/** How often a copy may take another device id: hubs of different histories at one address would give it one at each contact. */
import { Refusal } from '../../../errors.ts';
import { DAY_MICROS } from '../../../values/time.ts';
import type { Micros } from '../../../values/value.ts';
import type { Epoch } from '../../protocol/identifiers.ts';
import type { ReplicaState } from '../state/replica-state.ts';

/** In a row; a person has `SYNC_LIMITS.devicesPerPerson` at most. */
const FREE = 8;
const FIRST_PAUSE: Micros = 60 * 1_000_000;
/** Without another id, and the next one is the first again. */
const QUIET: Micros = 2 * DAY_MICROS;
/** Epochs that a copy remembers to have left. */
const EPOCHS = 8;

/**
 * @param now of the device
 * @param epoch of the hub
 * @throws Refusal `connection_needed` when another one would be too soon
 */
export function withIdTaken(state: ReplicaState, now: Micros, epoch?: Epoch): ReplicaState {
  const { at, count, left } = state.idsTaken ?? { at: 0, count: 0, left: [] };
  const leaving = state.epoch === undefined ? left : [...left, state.epoch].slice(-EPOCHS);
  // A hub that was made anew or restored has an epoch of its own each time, and does not come back to one before.
  if (epoch !== undefined && epoch !== state.epoch && !left.includes(epoch))
    return { ...state, idsTaken: { at, count, left: leaving } };
  const since = now - at;
  const pause = count < FREE ? 0 : Math.min(DAY_MICROS, FIRST_PAUSE * 2 ** (count - FREE));
  // A negative time says that the clock was set.
  if (since >= 0 && since < pause) throw new Refusal('connection_needed', TOO_SOON);
  return {
    ...state,
    idsTaken: { at: now, count: since > QUIET ? 1 : count + 1, left: leaving },
  };
}

const TOO_SOON =
  'The hub has another history than at the last contact, time after time: hubs that do not share their data answer at one address.';
