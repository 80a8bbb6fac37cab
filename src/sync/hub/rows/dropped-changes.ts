/**
 * When the log of changes is cut, the hub keeps the time of the last dropped change of each collection and each index. A device with an
 * older cursor continues as if the log were complete, if nothing that concerns it has changed since.
 */
import {
  hexOfKey,
  indexPrefixOf,
  sharedIndexPrefix,
  syncKey,
  withoutDatabase,
  type Key,
} from '../../../codec/key.ts';
import { unpackVersion } from '../../../codec/row.ts';
import { readChanges } from '../../../engine/transactions.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import { commitTimeOf, horizonIn, horizonRow } from './change-log-rows.ts';
import { recordIn, recordRow } from './records.ts';

/** The collection (range of keys) or index (range of entries) of a range. Both have their number after that of the database. */
const ownerOf = ({ by, lower }: Pick<PartRange, 'by' | 'lower'>): string =>
  `${by} ${hexOfKey(withoutDatabase(indexPrefixOf(lower)))}`;

/** The row with the time of the last dropped change of a collection or index. */
const droppedAddress = (database: DatabaseId, owner: string): RowAddress => ({
  space: 'sync',
  key: syncKey('dropped', database, owner),
});

/**
 * The rows that replace deleted rows of the log: the new horizon, and the times of the last dropped changes.
 * @param rows the deleted rows, oldest first
 * @throws Suspended
 */
export function rowsAfterCut(
  reader: Reader,
  database: DatabaseId,
  rows: readonly Row[],
): readonly Row[] {
  const latest = new Map<string, Micros>();
  let horizon = horizonIn(reader, database);
  for (const row of rows) {
    const ts = commitTimeOf(row.key);
    horizon = Math.max(horizon, ts);
    for (const { key, entries } of readChanges(database, row)) {
      latest.set(ownerOf({ by: 'key', lower: key }), ts);
      for (const entry of entries) latest.set(ownerOf({ by: 'entry', lower: entry }), ts);
    }
  }
  return [
    horizonRow(database, horizon),
    ...[...latest].map(([owner, ts]) => recordRow(droppedAddress(database, owner), ts)),
  ];
}

/** The data on which a device depends. */
export interface Concern {
  readonly ranges: readonly PartRange[];
  /** Keys of documents. */
  readonly rows: ReadonlySet<Key>;
}

/** Whether none of the dropped changes after `since` affects this data. @throws Suspended */
export function isUntouchedSince(
  reader: Reader,
  database: DatabaseId,
  { ranges, rows }: Concern,
  since: Micros,
): boolean {
  if (ranges.some(({ lower, upper }) => !sharedIndexPrefix(lower, upper))) return false;
  const keys = [...rows];
  const versions = eachElement(keys, (key) => reader.row({ space: 'documents', key }));
  // An existing document has the time of its last change itself. The time of its collection would include other documents, such as tokens.
  const gone = keys.filter((_, at) => !versions[at]);
  if (versions.some((row) => row && unpackVersion(String(row.value)).ts > since)) return false;
  const owners = new Set([
    ...ranges.map(ownerOf),
    ...gone.map((lower) => ownerOf({ by: 'key', lower })),
  ]);
  const dropped = eachElement(owners, (owner) =>
    recordIn(reader, droppedAddress(database, owner)),
  ) as readonly (Micros | undefined)[];
  return dropped.every((ts = 0) => ts <= since);
}
