/** Cached intervals of indexes and collections; those least recently read are evicted. */
import { after, type Key, indexPrefixOf } from '../codec/key.ts';
import { isEntrySpace, type Entry, type Range, type Row, type Space } from './port.ts';
import { Intervals } from './intervals.ts';

/** Keys of one index, or of one collection, share their first bytes: database and index or collection number. */
const KEYSPACE_BYTES = 8;
/** A commit that changes more entries than this evicts their indexes, which is cheaper than updating each entry. */
const ENTRIES_LOOKED_AT_MAX = 1024;

type Keyspace = string;

export const keyspaceAt = (space: Space, by: Range['by'], key: Key | ''): Keyspace =>
  space[0] + by + key.slice(0, KEYSPACE_BYTES);

/** The index or collection that contains the range; undefined when there is none. */
export function keyspaceOf({ space, by, lower, upper }: Range): Keyspace | undefined {
  const prefix = indexPrefixOf(lower);
  const isInOne = prefix.length === KEYSPACE_BYTES && upper <= after(prefix);
  return isInOne ? keyspaceAt(space, by, prefix) : undefined;
}

export interface ChangedRow {
  readonly space: Space;
  readonly key: Key;
  readonly row: Row | undefined | 'unknown';
}

export class IntervalCache {
  private young = new Map<Keyspace, Intervals>();
  private old = new Map<Keyspace, Intervals>();
  private youngBytes = 0;
  private readonly bytesMax: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  clear(): void {
    this.young = new Map();
    this.old = new Map();
    this.youngBytes = 0;
  }

  find(keyspace: Keyspace, range: Range): readonly Entry[] | undefined {
    const found = this.young.get(keyspace)?.find(range);
    if (found) return found;
    const before = this.old.get(keyspace)?.find(range);
    if (before) this.keep(keyspace, range, before);
    return before;
  }

  keep(keyspace: Keyspace, range: Range, found: readonly Entry[]): void {
    let intervals = this.young.get(keyspace);
    if (!intervals) this.young.set(keyspace, (intervals = new Intervals()));
    this.youngBytes -= intervals.bytes;
    intervals.keep(range, found);
    this.youngBytes += intervals.bytes;
    if (this.youngBytes <= this.bytesMax / 2) return;
    this.old = this.young;
    this.young = new Map();
    this.youngBytes = 0;
  }

  /** @param entries all entries of the changed rows, before and after */
  advance(
    rows: readonly ChangedRow[],
    entries: readonly { readonly space: Space; readonly key: Key }[],
  ): void {
    const changed = rows.filter(({ space }) => isEntrySpace(space));
    if (entries.length > ENTRIES_LOOKED_AT_MAX) {
      for (const { space, key } of changed) this.dropKeyspace(keyspaceAt(space, 'key', key));
      for (const { space, key } of entries) this.dropKeyspace(keyspaceAt(space, 'entry', key));
      return;
    }
    for (const { space, key, row } of changed) {
      const isKnown = row !== 'unknown';
      this.change(keyspaceAt(space, 'key', key), (intervals) =>
        isKnown ? intervals.set(key, key, row) : intervals.forget(key),
      );
    }
    if (changed.some(({ row }) => row === 'unknown')) {
      for (const { space, key } of entries)
        this.change(keyspaceAt(space, 'entry', key), (intervals) => intervals.forget(key));
    } else this.moveEntries(changed, entries);
  }

  private moveEntries(
    changed: readonly ChangedRow[],
    entries: readonly { readonly space: Space; readonly key: Key }[],
  ): void {
    const keys = new Set(changed.map(({ key }) => key));
    for (const { space, key } of entries)
      this.change(keyspaceAt(space, 'entry', key), (intervals) => intervals.drop(key, keys));
    for (const { space, key, row } of changed) {
      if (!row || row === 'unknown') continue;
      for (const entry of row.entries)
        this.change(keyspaceAt(space, 'entry', entry), (intervals) =>
          intervals.set(entry, key, row),
        );
    }
  }

  private change(keyspace: Keyspace, change: (intervals: Intervals) => void): void {
    const [young, old] = [this.young.get(keyspace), this.old.get(keyspace)];
    if (old) change(old);
    if (!young) return;
    this.youngBytes -= young.bytes;
    change(young);
    this.youngBytes += young.bytes;
  }

  private dropKeyspace(keyspace: Keyspace): void {
    this.youngBytes -= this.young.get(keyspace)?.bytes ?? 0;
    this.young.delete(keyspace);
    this.old.delete(keyspace);
  }
}
