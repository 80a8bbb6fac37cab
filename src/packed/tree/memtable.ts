/** What the log holds beyond the tables, sorted. A version of it is never changed: a commit makes the next, which shares most of it. */
import { LOWEST_KEY, type Key } from '../../codec/key.ts';
import { isEntrySpace, rowBytes, type Row } from '../../store/port.ts';
import { SortedEntries } from '../../store/sorted-entries.ts';
import type { Change } from '../codec/log-record.ts';
import { entryFamily, rowFamily, type Family } from '../families.ts';
import { familiesOf } from '../manifest.ts';

/**
 * By family: of rows (key, key) → row, of entries (entry, key) → the row that has it, as it is now. `DELETED` hides what tables
 * hold.
 */
export interface Memtable {
  readonly families: Readonly<Record<Family, SortedEntries>>;
  /** About what it takes in memory. */
  readonly bytes: number;
}

/** Stands for the row of an item that is deleted. */
export const DELETED: Row = { key: LOWEST_KEY, entries: [], value: '' };

export const EMPTY_MEMTABLE: Memtable = {
  families: familiesOf(() => SortedEntries.empty()),
  bytes: 0,
};

export function memtableWith(before: Memtable, changes: readonly Change[]): Memtable {
  const families: Record<Family, SortedEntries> = { ...before.families };
  const changing = (family: Family): SortedEntries => {
    if (families[family] === before.families[family])
      families[family] = before.families[family].fork();
    return families[family];
  };
  let { bytes } = before;
  for (const { space, key, row, ended } of changes) {
    changing(rowFamily(space)).put({ entry: key, key, row: row ?? DELETED });
    bytes += row ? rowBytes(row) : rowBytes(DELETED) + key.length;
    if (!isEntrySpace(space)) continue;
    const family = entryFamily(space);
    for (const entry of ended) changing(family).put({ entry, key, row: DELETED });
    for (const entry of row?.entries ?? []) changing(family).put({ entry, key, row });
  }
  return { families, bytes };
}

/** The row, `DELETED`, or undefined when the memtable says nothing of it. */
export const memtableRow = ({ families }: Memtable, family: Family, key: Key): Row | undefined =>
  families[family].get(key, key)?.row;
