/** How often a copy may take another device id: hubs of different histories at one address would give it one at each contact. */
import { Refusal } from '../../../errors.ts';
import { DAY_MICROS } from '../../../values/time.ts';
import type { Micros } from '../../../values/value.ts';
import type { Epoch } from '../../protocol/identifiers.ts';
import type { ReplicaState } from '../state/replica-state.ts';

/** Epochs that a copy remembers to have left. */
const EPOCHS = 8;

/**
 * The pause before the next one, µs: four times as long each time, so that the first few cost less than a second. A person may have
 * `SYNC_LIMITS.devicesPerPerson` in a month.
 */
const pauseAfter = (count: number): Micros => Math.min(DAY_MICROS, 250 * 4 ** count);

/**
 * @param now of the device
 * @param epoch of the hub
 * @throws Refusal `connection_needed` when another one would be too soon
 */
export function withIdTaken(state: ReplicaState, now: Micros, epoch?: Epoch): ReplicaState {
  const { at, count, left } = state.idsTaken ?? { at: 0, count: 0, left: [] };
  const leaving = state.epoch === undefined ? left : [...left, state.epoch].slice(-EPOCHS);
  const taken = (idsTaken: ReplicaState['idsTaken']): ReplicaState => ({ ...state, idsTaken });
  // A hub that was made anew or restored has an epoch of its own each time, and does not come back to one before.
  if (epoch !== undefined && epoch !== state.epoch && !left.includes(epoch))
    return taken({ at, count, left: leaving });
  const since = now - at;
  // A negative time says that the clock was set.
  if (since >= 0 && since < pauseAfter(count)) throw new Refusal('connection_needed', TOO_SOON);
  return taken({ at: now, count: since > 2 * DAY_MICROS ? 1 : count + 1, left: leaving });
}

const TOO_SOON = 'Several hubs that do not share their data answer at this address.';
