/** Ensures that only one syncer at a time changes a copy: each change by a syncer carries the fencing token that it took. */
import type { Writer } from '../../../store/reader.ts';
import type { ReplicaState } from './replica-state.ts';
import { readState, STATE } from './state-row.ts';

/** Another syncer has taken over. */
export class Fenced extends Error {
  constructor() {
    super('Another tab has taken over the sync.');
  }
}

/** @throws Fenced */
export function requireFence(writer: Writer, fence: number): ReplicaState {
  const state = readState(writer.row(STATE));
  if (state?.fence !== fence) throw new Fenced();
  return state;
}
