/** Scans: ranges of rows with what most of them have in common. */
import { isInRange, type KeyRange } from '../codec/ranges.ts';
import type { Range, Row, Space } from './port.ts';

/** Where to scan; over primary keys when `by` is left out. */
export type ScanRange = KeyRange & Partial<Pick<Range, 'by'>>;

/** All rows of a range of keys, ascending, with their values, unless the options say otherwise. */
export const scan = (
  space: Space,
  { by = 'key', lower, upper }: ScanRange,
  options: Partial<Pick<Range, 'reverse' | 'limit' | 'rows'>> = {},
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

/** Whether a scan of the range finds a row under this key and with these entries. */
export const isRowInRange = (
  { key, entries }: Pick<Row, 'key' | 'entries'>,
  { by = 'key', ...range }: ScanRange,
): boolean =>
  by === 'key' ? isInRange(key, range) : entries.some((entry) => isInRange(entry, range));
