/** Parts of sets: which rows they hold. The same on both sides, but for the number of the database. */
import {
  after,
  collectionPrefix,
  documentKey,
  indexPrefix,
  keyOfHex,
  type Key,
} from '../../codec/key.ts';
import { unreachable } from '../../errors.ts';
import type { Range, Row } from '../../store/port.ts';
import type { DatabaseId } from '../../values/value.ts';
import type { SetPart } from './sets.ts';

export type PartRange = Pick<Range, 'by' | 'lower' | 'upper'>;

export function partRange(part: SetPart, database: DatabaseId): PartRange {
  const lower = lowerEnd(part, database);
  return { by: part.kind === 'index' ? 'entry' : 'key', lower, upper: after(lower) };
}

function lowerEnd(part: SetPart, database: DatabaseId): Key {
  switch (part.kind) {
    case 'collection':
      return collectionPrefix(database, part.collection);
    case 'document':
      return documentKey(database, part.collection, BigInt(part.id));
    case 'index':
      return (indexPrefix(database, part.index) + keyOfHex(part.prefix)) as Key;
    default:
      return unreachable(part);
  }
}

/** Whether a document is in it, as its row stands. */
export function isInPart(part: SetPart, row: Pick<Row, 'key' | 'entries'>, database: DatabaseId) {
  const { by, lower, upper } = partRange(part, database);
  if (by === 'key') return row.key >= lower && row.key < upper;
  return row.entries.some((entry) => entry >= lower && entry < upper);
}
