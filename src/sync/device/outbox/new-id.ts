/** Limits how often a copy may take a new device id: if hubs with different histories shared one URL, each contact would give it one. */
import { Refusal } from '../../../errors.ts';
import { DAY_MICROS } from '../../../values/time.ts';
import type { Micros } from '../../../values/value.ts';
import type { Epoch } from '../../protocol/identifiers.ts';
import type { ReplicaState } from '../state/replica-state.ts';

/** Number of earlier epochs that a copy remembers. */
const EPOCHS = 8;

/**
 * Minimum time since the last new id, µs: four times as long each time. The first few ids cost less than a second. A user may have
 * `SYNC_LIMITS.devicesPerPerson` devices in a month.
 */
const pauseAfter = (count: number): Micros => Math.min(DAY_MICROS, 250 * 4 ** count);

/**
 * @param now by the clock of the device
 * @param epoch of the hub
 * @throws Refusal `connection_needed` if the last new id was too recent
 */
export function withIdTaken(state: ReplicaState, now: Micros, epoch?: Epoch): ReplicaState {
  const { at, count, left } = state.idsTaken ?? { at: 0, count: 0, left: [] };
  const leaving = [...left, state.epoch].slice(-EPOCHS);
  const taken = (idsTaken: ReplicaState['idsTaken']): ReplicaState => ({ ...state, idsTaken });
  // A hub that was restored or recreated has a new epoch each time, and never returns to an earlier one.
  if (epoch !== undefined && epoch !== state.epoch && !left.includes(epoch))
    return taken({ at, count, left: leaving });
  const since = now - at;
  // A negative time means that the clock was set back.
  if (since >= 0 && since < pauseAfter(count)) throw new Refusal('connection_needed', TOO_SOON);
  return taken({ at: now, count: since > 2 * DAY_MICROS ? 1 : count + 1, left: leaving });
}

const TOO_SOON = 'Several hubs that do not share their data answer at this address.';
