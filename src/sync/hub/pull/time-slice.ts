/** Long work is done in time slices: during one, no other request is answered. */
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';

/** Begins a slice. @returns whether it is over */
export function timeSlice(clock: () => Micros): () => boolean {
  const end = clock() + SYNC_LIMITS.sliceMicros;
  return () => clock() >= end;
}
