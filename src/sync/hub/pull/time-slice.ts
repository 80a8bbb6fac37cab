/** Long work is done in time slices: during one, no other request is answered. */
import type { Micros } from '../../../values/value.ts';

/** Begins a slice. @returns whether it is over */
export function timeSlice(clock: () => Micros, micros: number): () => boolean {
  const end = clock() + micros;
  return () => clock() >= end;
}
