/** Helpers for ranges of rows, with common defaults. */
import { keyAfter } from '../codec/key.ts';
import { isInRange, type KeyRange } from '../codec/ranges.ts';
import type { Entry, Range, Row, Space } from './port.ts';
import type { Reader } from './reader.ts';

/** A range of primary keys, unless `by` says otherwise. */
export type ScanRange = KeyRange & Partial<Pick<Range, 'by'>>;

/** All rows of a key range, ascending and with their values, unless the options say otherwise. */
export const scan = (
  space: Space,
  { by = 'key', lower, upper }: ScanRange,
  options: Partial<Pick<Range, 'reverse' | 'limit' | 'rows' | 'prefetch'>> = {},
): Range => ({
  space,
  by,
  lower,
  upper,
  reverse: false,
  limit: Number.MAX_SAFE_INTEGER,
  rows: true,
  ...options,
});

/** The rest of a range after one of its entries, in the direction of the range. */
export const rangeAfter = (range: Range, { entry }: Entry): Range =>
  range.reverse ? { ...range, upper: entry } : { ...range, lower: keyAfter(entry) };

/** The same when `found` entries of the range were read, the last one among them: no more than its limit are left to read. */
export const restAfter = (range: Range, last: Entry, found: number): Range => ({
  ...rangeAfter(range, last),
  limit: range.limit - found,
});

/** All entries of a range, read `limit` at a time. @param growth factor by which the limit grows from one read to the next */
export function* entriesIn(
  reader: Pick<Reader, 'range'>,
  range: Range,
  growth = 1,
): Generator<Entry> {
  for (let rest = range; ;) {
    const found = reader.range(rest);
    yield* found;
    const last = found.at(-1);
    if (!last || found.length < rest.limit) return;
    rest = { ...rangeAfter(rest, last), limit: rest.limit * growth };
  }
}

/** Whether a scan of the range would find a row with this key and these entries. */
export const isRowInRange = (
  { key, entries }: Pick<Row, 'key' | 'entries'>,
  { by = 'key', ...range }: ScanRange,
): boolean =>
  by === 'key' ? isInRange(key, range) : entries.some((entry) => isInRange(entry, range));
