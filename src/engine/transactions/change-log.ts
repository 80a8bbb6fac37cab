/**
 * The change log: for each database, the documents that each commit changed, with their index entries before and after. A hub keeps it, so
 * that the changes a device has missed are one key range of the log.
 */
import {
  databaseOf,
  hexOfKey,
  keyOfHex,
  syncKey,
  withDatabase,
  withoutDatabase,
  type Key,
} from '../../codec/key.ts';
import type { Row, RowAddress, WriteSet } from '../../store/port.ts';
import type { DatabaseId, Micros } from '../../values/value.ts';
import { isNativeEntry } from '../catalog/native-indexes.ts';

export interface LoggedChange {
  /** Key of a document, which may have been deleted. */
  readonly key: Key;
  /** Entries in user-defined indexes, before and after the commit. */
  readonly entries: readonly Key[];
  /** The document was written without a change, to announce that something related to it, stored elsewhere, has changed. */
  readonly isSame: boolean;
}

export const changeKey = (database: DatabaseId, ts: Micros): Key =>
  syncKey('changes', database, ts);

type Put = WriteSet['puts'][number];

/** Ends the line of a document that was written without a change. Older builds read it as an entry that is in no index. */
const SAME = ' ';

export function changeRows(
  writes: WriteSet,
  before: (address: RowAddress) => Row | null | undefined,
  ts: Micros,
): Put[] {
  const lines = new Map<DatabaseId, string[]>();
  const note = ({ space, key }: RowAddress, row: Row | undefined): void => {
    if (space !== 'documents') return;
    const previous = before({ space, key });
    const touched = new Set([...(previous?.entries ?? []), ...(row?.entries ?? [])]);
    const entries = [...touched].filter((entry) => !isNativeEntry(entry));
    const keys = [key, ...entries].map((each) => hexOfKey(withoutDatabase(each))).join(' ');
    const line = row && row === previous ? keys + SAME : keys;
    const database = databaseOf(key);
    const known = lines.get(database);
    if (known) known.push(line);
    else lines.set(database, [line]);
  };
  for (const { space, row } of writes.puts) note({ space, key: row.key }, row);
  for (const address of writes.deletes) note(address, undefined);
  return [...lines].map(([database, each]) => ({
    space: 'sync',
    row: { key: changeKey(database, ts), entries: [], value: each.join('\n') },
  }));
}

/** The contents of one row of the log. */
export function readChanges(database: DatabaseId, row: Row): readonly LoggedChange[] {
  const lines = String(row.value).split('\n');
  return lines.map((line) => {
    const hexes = line.trimEnd().split(' ');
    const [key, ...entries] = hexes.map((hex) => withDatabase(database, keyOfHex(hex)));
    if (key === undefined) throw new Error('A row of the change log is empty.');
    return { key, entries, isSame: line.endsWith(SAME) };
  });
}
