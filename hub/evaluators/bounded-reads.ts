/** Summarizes what a query has read in a limited number of key ranges that contain all of it. */
import { keyAfter, type Key } from '../../src/codec/key.ts';
import type { ReadSet } from '../../src/engine/host.ts';
import type { Range } from '../../src/store/port.ts';

type By = Pick<Range, 'space' | 'by'>;
interface Span extends By {
  lower: Key;
  upper: Key;
}

/** Length of the part of a key that identifies the database and the collection or index. */
const PREFIX_CHARS = 8;

/**
 * @param max the maximum number of rows and ranges. When they are merged, a commit of unrelated rows may count as affecting the
 * query.
 */
export function boundedReads({ rows, ranges }: ReadSet, max: number): ReadSet {
  if (rows.length + ranges.length <= max) return { rows, ranges };
  const narrow = spansOf({ rows, ranges }, PREFIX_CHARS);
  const spans = narrow.length <= max ? narrow : spansOf({ rows, ranges }, 0);
  const rest = { reverse: false, limit: Infinity, rows: false } as const;
  return { rows: [], ranges: spans.map((span) => ({ ...span, ...rest })) };
}

function spansOf({ rows, ranges }: ReadSet, prefixChars: number): readonly Span[] {
  const spans = new Map<string, Span>();
  const add = ({ space, by }: By, lower: Key, upper: Key): void => {
    const name = `${space} ${by} ${lower.slice(0, prefixChars)}`;
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
