/** Long work is done in time slices, because no other request is answered during a slice. */
import type { Micros } from '../../../values/value.ts';

/** Starts a slice. @returns a function that tells whether the slice is over */
export function timeSlice(clock: () => Micros, micros: number): () => boolean {
  const end = clock() + micros;
  return () => clock() >= end;
}
