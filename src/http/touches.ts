/** Whether a commit may have changed what a query has read. */
import type { CommitNotice, ReadSet } from '../engine/host.ts';
import { documentKeyOf, type Key } from '../codec/key.ts';
import type { Range, Space } from '../store/port.ts';

/** Space and key of each row. With a row of its history a document has changed, too: a deleted one has no other. */
export const changedRows = ({ rows }: CommitNotice): readonly string[] =>
  rows.flatMap(({ space, key }) => [`${space} ${key}`, `documents ${documentKeyOf(key)}`]);

export function touches(notice: CommitNotice, { rows, ranges }: ReadSet): boolean {
  const changed = new Set(changedRows(notice));
  if (rows.some(({ space, key }) => changed.has(`${space} ${key}`))) return true;
  return ranges.some((range) => {
    const keys = range.by === 'key' ? notice.rows : notice.entries;
    return keys.some(({ space, key }) => isWithin(space, key, range));
  });
}

const isWithin = (space: Space, key: Key, range: Range): boolean =>
  space === range.space && key >= range.lower && key < range.upper;
