/** Scans: ranges of rows with what most of them have in common. */
import type { KeyRange } from '../codec/ranges.ts';
import type { Range, Space } from './port.ts';

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
