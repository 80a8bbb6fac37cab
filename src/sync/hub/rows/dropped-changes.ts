/**
 * When the log of changes is cut, the hub keeps the time of the last dropped change of each collection and each index. A device with an
 * older cursor continues as if the log were complete, if nothing that concerns it has changed since.
 */
import {
  collectionPrefix,
  decodeDocumentKey,
  documentKey,
  hexOfKey,
  indexPrefix,
  indexPrefixOf,
  numberOf,
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
import { NATIVE, NATIVE_KINDS } from '../../../values/native-kinds.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import type { PartRange } from '../../protocol/set-parts.ts';
import { commitTimeOf, horizonIn, horizonRow } from './change-log-rows.ts';
import { recordIn, recordRow } from './records.ts';

/** Any range of a collection (of keys) or of an index (of entries). Both have their number after that of the database. */
type Owner = Pick<PartRange, 'by' | 'lower'>;
const ownerOf = ({ by, lower }: Owner): string =>
  `${by} ${hexOfKey(withoutDatabase(indexPrefixOf(lower)))}`;

/** The row with the time of the last dropped change of a collection or index. */
const droppedAddress = (database: DatabaseId, owner: string): RowAddress => ({
  space: 'sync',
  key: syncKey('dropped', database, owner),
});

/** What a cut of the log changes besides the deleted rows. */
interface Cut {
  readonly puts: readonly Row[];
  readonly deletes: readonly Key[];
}

/**
 * The new horizon, and the times of the last dropped changes. Deleted collections and indexes keep none, because whoever is older than
 * their deletion is older than a change of the schema.
 * @param rows the deleted rows, oldest first
 * @throws Suspended
 */
export function cutAfter(reader: Reader, database: DatabaseId, rows: readonly Row[]): Cut {
  const latest = new Map<string, Micros>();
  /** By owner: the key of its definition, unless it is native. */
  const definitions = new Map<string, Key>();
  let horizon = horizonIn(reader, database);
  const note = (owner: Owner, ts: Micros): void => {
    const name = ownerOf(owner);
    latest.set(name, ts);
    const defined = definitionOf(database, owner);
    if (defined) definitions.set(name, defined);
  };
  for (const row of rows) {
    const ts = commitTimeOf(row.key);
    horizon = Math.max(horizon, ts);
    for (const { key, entries } of readChanges(database, row)) {
      note({ by: 'key', lower: key }, ts);
      for (const entry of entries) note({ by: 'entry', lower: entry }, ts);
      const owner = definedBy(database, key);
      if (owner) definitions.set(ownerOf(owner), key);
    }
  }
  const versions = eachElement([...definitions.values()], (key) =>
    reader.row({ space: 'documents', key }),
  );
  const gone = [...definitions.keys()].filter((_, at) => !versions[at]);
  for (const name of gone) latest.delete(name);
  return {
    puts: [
      horizonRow(database, horizon),
      ...[...latest].map(([name, ts]) => recordRow(droppedAddress(database, name), ts)),
    ],
    deletes: gone.map((name) => droppedAddress(database, name).key),
  };
}

/** The key of the document that defines a collection or index. Undefined if it is native. */
function definitionOf(database: DatabaseId, { by, lower }: Owner): Key | undefined {
  const number = numberOf(lower);
  const kind = by === 'key' ? 'collections' : 'indexes';
  const isNative = number < NATIVE_KINDS[kind].firstNumber;
  return isNative ? undefined : documentKey(database, NATIVE[kind], BigInt(number));
}

/** The collection or index that a document defines. */
function definedBy(database: DatabaseId, document: Key): Owner | undefined {
  const { collection, id } = decodeDocumentKey(document);
  if (collection === NATIVE.collections)
    return { by: 'key', lower: collectionPrefix(database, Number(id)) };
  return collection === NATIVE.indexes
    ? { by: 'entry', lower: indexPrefix(database, Number(id)) }
    : undefined;
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
