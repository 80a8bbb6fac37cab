/** Summarizes what a query has read in a limited number of key ranges that contain all of it. */
import { indexPrefixOf, keyAfter, type Key } from '../../src/codec/key.ts';
import type { ReadSet } from '../../src/engine/host.ts';
import type { Range } from '../../src/store/port.ts';

type By = Pick<Range, 'space' | 'by'>;
interface Span extends By {
  lower: Key;
  upper: Key;
}

/**
 * @param max the maximum number of rows and ranges. When they are merged, a commit of unrelated rows may count as affecting the
 * query.
 */
export function boundedReads({ rows, ranges }: ReadSet, max: number): ReadSet {
  if (rows.length + ranges.length <= max) return { rows, ranges };
  const narrow = spansOf({ rows, ranges }, indexPrefixOf);
  const spans = narrow.length <= max ? narrow : spansOf({ rows, ranges }, () => '');
  const rest = { reverse: false, limit: Infinity, rows: false } as const;
  return { rows: [], ranges: spans.map((span) => ({ ...span, ...rest })) };
}

/** @param groupOf the ranges of a group are merged */
function spansOf({ rows, ranges }: ReadSet, groupOf: (lower: Key) => string): readonly Span[] {
  const spans = new Map<string, Span>();
  const add = ({ space, by }: By, lower: Key, upper: Key): void => {
    const name = `${space} ${by} ${groupOf(lower)}`;
    const span = spans.get(name);
    if (!span) spans.set(name, { space, by, lower, upper });
    else {
      if (lower < span.lower) span.lower = lower;
      if (upper > span.upper) span.upper = upper;
    }
  };
  for (const { space, key } of rows) add({ space, by: 'key' }, key, keyAfter(key));
  for (const range of ranges) add(range, range.lower, range.upper);
  return [...spans.values()];
}
