/** How many rows a step of background work visits: few where they are large. */
import { LIMITS } from '../../limits.ts';
import type { Entry } from '../../store/port.ts';

export const FIRST_ROWS = 32;
const LEAST_ROWS = 4;

/** @param bytes of the rows that the step before has visited @param size how many it could have */
export function sizeAfter(bytes: number, size: number, sizeMax = LIMITS.sweepStepRows): number {
  if (bytes > LIMITS.sweepStepBytes) return Math.max(LEAST_ROWS, size >> 2);
  if (bytes > LIMITS.sweepStepBytes / 4) return size;
  return Math.min(sizeMax, size * 2);
}

export const bytesOf = (found: readonly Entry[]): number =>
  found.reduce((sum, { row }) => sum + (row?.value.length ?? 0), 0);
