import type { Entry } from './port.ts';

/** The first index for which `isBelow` is false, or `length` if there is none. `isBelow` must be false for all later indexes, too. */
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
 * In a list ordered by (entry, key): the index of the first entry that is not before the given one, or the length of the list.
 * Not done by `firstIndex`, because each write searches, and comparing inside the loop takes a quarter less time.
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

/** Comparator for sorting. No two of the entries may be equal. */
export const compareEntries = (a: Entry, b: Entry): number =>
  isBefore(a, b.entry, b.key) ? -1 : 1;
