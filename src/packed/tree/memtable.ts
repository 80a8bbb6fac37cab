/**
 * The commits of the log that are not in tables, sorted. A memtable is immutable: a commit makes a new one, which
 * shares most of its data.
 */
import { LOWEST_KEY, type Key } from '../../codec/key.ts';
import { isEntrySpace, rowBytes, type Row } from '../../store/port.ts';
import { SortedEntries } from '../../store/sorted-entries.ts';
import type { Change } from '../codec/log-record.ts';
import { entryFamily, rowFamily, type Family } from '../families.ts';
import { familiesOf } from '../manifest.ts';

/**
 * By family. Row families map (key, key) to the row; entry families map (entry, key) to the current row that has the
 * entry. `DELETED` hides an item in tables.
 */
export interface Memtable {
  readonly families: Readonly<Record<Family, SortedEntries>>;
  /** Estimated bytes of memory. */
  readonly bytes: number;
}

/** Marks a deleted item, in place of a row. */
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

/** The row, or `DELETED`. Undefined if the memtable has no item for this key. */
export const memtableRow = ({ families }: Memtable, family: Family, key: Key): Row | undefined =>
  families[family].get(key, key)?.row;
