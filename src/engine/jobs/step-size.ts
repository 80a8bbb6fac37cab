/** How many rows a step of background work visits: fewer if they are large. */
import { LIMITS } from '../../limits.ts';
import type { Entry } from '../../store/port.ts';

export const FIRST_ROWS = 32;
const LEAST_ROWS = 4;

/**
 * @param bytes size of the rows that the previous step visited
 * @param size number of rows that the previous step could visit
 */
export function sizeAfter(bytes: number, size: number, sizeMax = LIMITS.sweepStepRows): number {
  if (bytes > LIMITS.sweepStepBytes) return Math.max(LEAST_ROWS, size >> 2);
  if (bytes > LIMITS.sweepStepBytes / 4) return size;
  return Math.min(sizeMax, size * 2);
}

export const bytesOf = (found: readonly Entry[]): number =>
  found.reduce((sum, { row }) => sum + (row?.value.length ?? 0), 0);
