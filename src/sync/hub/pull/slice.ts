/** Long work goes in slices: while one is under way, nobody else is answered. */
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';

/** Tells when the slice that begins now is over. */
export function lateIn(clock: () => Micros): () => boolean {
  const end = clock() + SYNC_LIMITS.sliceMicros;
  return () => clock() >= end;
}
