/** Cached key intervals of indexes and collections. The least recently read ones are evicted. */
import { type Key, indexPrefixOf, sharedIndexPrefix } from '../codec/key.ts';
import { isEntrySpace, type Entry, type Range, type Row, type Space } from './port.ts';
import { Generations } from './generations.ts';
import { Intervals } from './intervals.ts';

/** If a commit changes more entries than this, the indexes of those entries are evicted: that is cheaper than updating each entry. */
const ENTRIES_LOOKED_AT_MAX = 1024;

type Keyspace = string;

export const keyspaceAt = (space: Space, by: Range['by'], key: Key): Keyspace =>
  space[0] + by + indexPrefixOf(key);

/** The index or collection that contains the whole range. Undefined if the range extends over several. */
export function keyspaceOf({ space, by, lower, upper }: Range): Keyspace | undefined {
  const prefix = sharedIndexPrefix(lower, upper);
  return prefix && keyspaceAt(space, by, prefix);
}

export interface ChangedRow {
  readonly space: Space;
  readonly key: Key;
  readonly row: Row | undefined | 'unknown';
}

export class IntervalCache {
  private readonly cached: Generations<Keyspace, Intervals>;

  constructor(bytesMax: number) {
    this.cached = new Generations(bytesMax, () => new Map<Keyspace, Intervals>());
  }

  clear(): void {
    this.cached.clear();
  }

  find(keyspace: Keyspace, range: Range): readonly Entry[] | undefined {
    const found = this.cached.recent(keyspace)?.find(range);
    if (found) return found;
    const before = this.cached.former(keyspace)?.find(range);
    if (before) this.keep(keyspace, range, before);
    return before;
  }

  rest(keyspace: Keyspace, range: Range): Range | undefined {
    return this.cached.recent(keyspace)?.rest(range);
  }

  keep(keyspace: Keyspace, range: Range, found: readonly Entry[]): void {
    this.changeRecent(keyspace, this.cached.recent(keyspace) ?? new Intervals(), (intervals) =>
      intervals.keep(range, found),
    );
  }

  /** Applies a commit. @param entries all index entries of the changed rows, those before and those after the commit */
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
    const former = this.cached.former(keyspace);
    if (former) change(former);
    const recent = this.cached.recent(keyspace);
    if (recent) this.changeRecent(keyspace, recent, change);
  }

  private changeRecent(
    keyspace: Keyspace,
    intervals: Intervals,
    change: (intervals: Intervals) => void,
  ): void {
    const { bytes } = intervals;
    change(intervals);
    this.cached.put(keyspace, intervals, intervals.bytes - bytes);
  }

  private dropKeyspace(keyspace: Keyspace): void {
    this.cached.delete(keyspace, this.cached.recent(keyspace)?.bytes);
  }
}
