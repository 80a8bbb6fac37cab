/**
 * What is left of the log of changes where it was cut: when each collection, and each index, last changed before. A device whose cursor
 * is older goes on as if the log were whole, if nothing that concerns it has changed between.
 */
import {
  databasePrefix,
  hexOfKey,
  indexPrefixOf,
  syncKey,
  withoutDatabase,
  type Key,
} from '../../../codec/key.ts';
import { unpackVersion } from '../../../codec/row.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { readChanges } from '../../../engine/transactions.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import { commitTimeOf, horizonIn, horizonRow } from './change-log-rows.ts';
import { recordIn, recordRow } from './records.ts';

/** What a range is in: a collection, by keys, or an index, by entries. Both have their number behind that of the database. */
const ownerOf = ({ by, lower }: Pick<PartRange, 'by' | 'lower'>): string =>
  `${by} ${hexOfKey(withoutDatabase(indexPrefixOf(lower)))}`;

const isInOneOwner = ({ lower, upper }: PartRange): boolean =>
  lower.length >= PREFIX_BYTES && upper <= prefixRange(indexPrefixOf(lower)).upper;

const PREFIX_BYTES = 2 * databasePrefix(0).length;

/** When something of it last changed, of what was dropped. */
const droppedAddress = (database: DatabaseId, owner: string): RowAddress => ({
  space: 'sync',
  key: syncKey('dropped', database, owner),
});

/** Which of what was dropped is noted: all changes after `since`, up to `until`. An earlier build dropped the others, and noted none. */
interface Noted {
  readonly since: Micros;
  readonly until: Micros;
}

const notedAddress = (database: DatabaseId): RowAddress => ({
  space: 'sync',
  key: syncKey('dropped', database),
});

/**
 * What is put in place of rows of the log that are deleted: the horizon, and what is noted up to there.
 * @param rows the oldest first
 * @throws Suspended
 */
export function rowsAfterCut(
  reader: Reader,
  database: DatabaseId,
  rows: readonly Row[],
): readonly Row[] {
  const horizon = horizonIn(reader, database);
  const latest = new Map<string, Micros>();
  let until = horizon;
  for (const row of rows) {
    const ts = commitTimeOf(row.key);
    until = Math.max(until, ts);
    for (const { key, entries } of readChanges(database, row)) {
      latest.set(ownerOf({ by: 'key', lower: key }), ts);
      for (const entry of entries) latest.set(ownerOf({ by: 'entry', lower: entry }), ts);
    }
  }
  const address = notedAddress(database);
  const before = recordIn(reader, address) as Noted | undefined;
  const since = before?.until === horizon ? before.since : horizon;
  const noted: Noted = { since, until };
  return [
    horizonRow(database, until),
    recordRow(address, noted),
    ...[...latest].map(([owner, ts]) => recordRow(droppedAddress(database, owner), ts)),
  ];
}

/** What a device depends on. */
export interface Concern {
  readonly ranges: readonly PartRange[];
  /** Documents. */
  readonly rows: ReadonlySet<Key>;
}

/** Whether nothing of this has changed after `since`, as far as changes were dropped. @throws Suspended */
export function isUntouchedSince(
  reader: Reader,
  database: DatabaseId,
  { ranges, rows }: Concern,
  since: Micros,
): boolean {
  const noted = recordIn(reader, notedAddress(database)) as Noted | undefined;
  if (!noted || noted.since > since || noted.until !== horizonIn(reader, database)) return false;
  if (!ranges.every(isInOneOwner)) return false;
  const keys = [...rows];
  const versions = eachElement(keys, (key) => reader.row({ space: 'documents', key }));
  // A document that is there tells itself when it last changed: others of its collection, such as tokens of others, do not matter.
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
