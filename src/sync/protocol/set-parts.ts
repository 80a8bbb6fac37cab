/** Parts of sets, and the ranges of rows that they contain. Both sides compute the same ranges, except for the number of the database. */
import {
  collectionPrefix,
  documentKey,
  indexPrefix,
  keyOfHex,
  keyUnder,
  type Key,
} from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import { unreachable } from '../../errors.ts';
import type { Row } from '../../store/port.ts';
import { type ScanRange, isRowInRange } from '../../store/scan.ts';
import type { DatabaseId } from '../../values/value.ts';
import type { SetPart } from './sets.ts';

export type PartRange = Required<ScanRange>;

export function partRange(part: SetPart, database: DatabaseId): PartRange {
  return { by: part.kind === 'index' ? 'entry' : 'key', ...prefixRange(prefixOf(part, database)) };
}

function prefixOf(part: SetPart, database: DatabaseId): Key {
  switch (part.kind) {
    case 'collection':
      return collectionPrefix(database, part.collection);
    case 'document':
      return documentKey(database, part.collection, BigInt(part.id));
    case 'index':
      return keyUnder(indexPrefix(database, part.index), keyOfHex(part.prefix));
    default:
      return unreachable(part);
  }
}

/** Whether a document is in the part, by the key and the index entries of its row. */
export function isInPart(part: SetPart, row: Pick<Row, 'key' | 'entries'>, database: DatabaseId) {
  return isRowInRange(row, partRange(part, database));
}
