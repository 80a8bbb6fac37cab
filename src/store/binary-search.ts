/** Binary searches. */
import type { Entry } from './port.ts';

/** The first index for which `isBelow` is false, or `length`. Once false, it is false for all later indexes. */
export function firstIndex(length: number, isBelow: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The index of the first of ordered entries that is not before (entry, key), or their number. Each write searches so: with the
 * comparison in the loop that takes three quarters of the time.
 */
export function firstAtOrAfter(list: readonly Entry[], entry: string, key: string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const each = list[middle];
    if (each && isBefore(each, entry, key)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const isBefore = (
  a: { readonly entry: string; readonly key: string },
  entry: string,
  key: string,
): boolean => a.entry < entry || (a.entry === entry && a.key < key);

/** For sorting entries, no two of which are equal. */
export const compareEntries = (a: Entry, b: Entry): number =>
  isBefore(a, b.entry, b.key) ? -1 : 1;
