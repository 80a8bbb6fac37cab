/**
 * The log of changes: for each database, which documents each commit changed, and the index entries they had and have. A hub keeps
 * it, so that what a device lacks is one range of it.
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
  /** Of a document, current or gone. */
  readonly key: Key;
  /** In indexes of users: those it had before the commit, and those it has since. */
  readonly entries: readonly Key[];
  /** It was written as it was: what belongs to it is elsewhere, and has changed. */
  readonly isSame: boolean;
}

export const changeKey = (database: DatabaseId, ts: Micros): Key =>
  syncKey('changes', database, ts);

type Put = WriteSet['puts'][number];

/** Ends the line of a document that was written as it was: to builds before it an entry that is in no index. */
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
