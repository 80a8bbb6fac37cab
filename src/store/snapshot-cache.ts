/**
 * A bounded cache of rows and ranges of the store as of one commit (`head`). Each later commit is applied to the cache.
 * `SnapshotReader` (`snapshot-reader.ts`) reads through it.
 */
import { LOWEST_KEY, type Key } from '../codec/key.ts';
import { isInRange } from '../codec/ranges.ts';
import type { Micros } from '../values/value.ts';
import { Generations } from './generations.ts';
import { RowMap } from './row-map.ts';
import { keyspaceAt, keyspaceOf, IntervalCache } from './interval-cache.ts';
import { isEntrySpace, isTrackedSpace, rangeBytes, ROW_OVERHEAD_BYTES, rowBytes } from './port.ts';
import type {
  Entry,
  EntrySpace,
  Range,
  Row,
  RowAddress,
  Space,
  TrackedSpace,
  WriteSet,
} from './port.ts';

interface KnownRange {
  readonly range: Range;
  readonly entries: readonly Entry[];
  readonly bytes: number;
}

/** What a range kept as requested takes in memory beside its name and entries, with its bounds, in bytes. */
const KEPT_RANGE_BYTES = 320;

/** If a commit changed more keys of one index or collection than this, all its ranges are evicted: cheaper than checking each. */
const CHANGES_LOOKED_AT_MAX = 32;

export class SnapshotCache {
  /** The commit whose state is cached. Undefined: nothing is cached. */
  head: Micros | undefined = undefined;
  /** `null`: the row is known to be absent. */
  private readonly rows: Generations<RowAddress, Row | null>;
  private readonly rangesByKeyspace = new Map<string, Map<string, KnownRange>>();
  private rangeBytes = 0;
  private readonly intervals: IntervalCache;
  private readonly bytesMax: number;

  /** @param bytesMax approximate size of all rows; and the same again for ranges kept as requested, and again for intervals */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.rows = new Generations(bytesMax, () => new RowMap<Row | null>());
    this.intervals = new IntervalCache(bytesMax);
  }

  forget(head: Micros | undefined): void {
    this.head = head;
    this.rows.clear();
    this.rangesByKeyspace.clear();
    this.rangeBytes = 0;
    this.intervals.clear();
  }

  /** Undefined: not cached. `null`: known to be absent. */
  row(address: RowAddress): Row | null | undefined {
    const recent = this.rows.recent(address);
    if (recent !== undefined) return recent;
    const row = this.rows.former(address);
    if (row !== undefined) this.keepRow(address, row ?? undefined);
    return row;
  }

  /** The entries of a range if they are cached. Prefetched rows may be missing. */
  range(range: Range, name: string): readonly Entry[] | undefined {
    const keyspace = keyspaceOf(range);
    if (keyspace !== undefined && isKeptAsInterval(range))
      return this.intervals.find(keyspace, range);
    return this.rangesByKeyspace.get(keyspace ?? wideKeyspace(range))?.get(name)?.entries;
  }

  /** The uncached rest of a range whose beginning is cached, so that deleted entries in the beginning need not be read again. */
  rest(range: Range): Range | undefined {
    const keyspace = keyspaceOf(range);
    return keyspace !== undefined && isKeptAsInterval(range)
      ? this.intervals.rest(keyspace, range)
      : undefined;
  }

  keepRow(address: RowAddress, row: Row | undefined): void {
    this.rows.put(
      address,
      row ?? null,
      row ? rowBytes(row) : ROW_OVERHEAD_BYTES + address.key.length,
    );
  }

  keepRange(range: Range, name: string, entries: readonly Entry[]): void {
    const one = keyspaceOf(range);
    if (one !== undefined && isKeptAsInterval(range)) {
      this.intervals.keep(one, range, entries);
      return;
    }
    const keyspace = one ?? wideKeyspace(range);
    let known = this.rangesByKeyspace.get(keyspace);
    if (!known) this.rangesByKeyspace.set(keyspace, (known = new Map()));
    const bytes = KEPT_RANGE_BYTES + name.length + rangeBytes(entries);
    this.rangeBytes += bytes - (known.get(name)?.bytes ?? 0);
    known.set(name, { range, entries, bytes });
    while (this.rangeBytes > this.bytesMax) this.evictRange();
  }

  /** Applies a commit if it directly follows the head; if commits in between are missing, evicts everything. */
  advance(commit: Changes): void {
    if (this.head !== undefined && commit.ts <= this.head) return;
    if (commit.previous !== this.head) {
      this.forget(commit.ts);
      return;
    }
    this.head = commit.ts;
    for (const { space, key, row } of commit.rows) {
      if (row === 'unknown') this.rows.delete({ space, key });
      else this.keepRow({ space, key }, row);
    }
    this.dropRanges(commit.rows, 'key');
    this.dropRanges(commit.entries, 'entry');
    this.intervals.advance(commit.rows, commit.entries);
  }

  private dropRanges(
    changed: readonly { readonly space: Space; readonly key: Key }[],
    by: Range['by'],
  ): void {
    const changesByKeyspace = new Map<string, { space: Space; keys: Key[] }>();
    for (const { space, key } of changed) {
      for (const keyspace of [keyspaceAt(space, by, key), keyspaceAt(space, by, LOWEST_KEY)]) {
        if (!this.rangesByKeyspace.has(keyspace)) continue;
        const changes = changesByKeyspace.get(keyspace);
        if (changes) changes.keys.push(key);
        else changesByKeyspace.set(keyspace, { space, keys: [key] });
      }
    }
    for (const [keyspace, { keys }] of changesByKeyspace) {
      const known = this.rangesByKeyspace.get(keyspace);
      if (!known) continue;
      for (const [name, each] of known) {
        if (keys.length <= CHANGES_LOOKED_AT_MAX && !keys.some((key) => covers(each, key)))
          continue;
        known.delete(name);
        this.rangeBytes -= each.bytes;
      }
      if (known.size === 0) this.rangesByKeyspace.delete(keyspace);
    }
  }

  private evictRange(): void {
    for (const [keyspace, known] of this.rangesByKeyspace) {
      for (const [name, each] of known) {
        known.delete(name);
        this.rangeBytes -= each.bytes;
        break;
      }
      if (known.size === 0) this.rangesByKeyspace.delete(keyspace);
      return;
    }
    this.rangeBytes = 0;
  }
}

/** The changes of a commit that a cache needs. `'unknown'`: the row changed, but its new content is not available here. */
export interface Changes {
  readonly previous: Micros;
  readonly ts: Micros;
  readonly rows: readonly {
    readonly space: TrackedSpace;
    readonly key: Key;
    readonly row: Row | undefined | 'unknown';
  }[];
  readonly entries: readonly { readonly space: EntrySpace; readonly key: Key }[];
}

/** The changes that a write set makes, for `SnapshotCache.advance` and for listeners. */
export function changesOf(
  writes: WriteSet,
  before: (address: RowAddress) => Row | null | undefined,
  previous: Micros,
  ts: Micros,
): Changes {
  const rows: { space: TrackedSpace; key: Key; row: Row | undefined }[] = [];
  const entries: { space: EntrySpace; key: Key }[] = [];
  const note = (address: RowAddress, row: Row | undefined) => {
    const { space, key } = address;
    if (!isTrackedSpace(space)) return;
    rows.push({ space, key, row });
    if (!isEntrySpace(space)) return;
    const had = before(address)?.entries ?? [];
    const has = new Set(row?.entries);
    for (const key of had) if (!has.has(key)) entries.push({ space, key });
    for (const key of has) entries.push({ space, key });
  };
  for (const { space, row } of writes.puts) note({ space, key: row.key }, row);
  for (const address of writes.deletes) note(address, undefined);
  return { previous, ts, rows, entries };
}

function covers({ range, entries }: KnownRange, key: Key): boolean {
  if (!isInRange(key, range)) return false;
  const last = entries.at(-1);
  if (entries.length < range.limit || !last) return true;
  return range.reverse ? key >= last.entry : key <= last.entry;
}

export const rowName = (space: Space, key: Key): string => space[0] + key;

export const rangeName = (range: Range): string =>
  `${range.space[0]}${range.by[0]}${range.rows ? (range.prefetch ? 'h' : 'r') : 'k'}${range.reverse ? '-' : '+'}${range.limit}|${range.lower.length}|${range.lower}${range.upper}`;

const wideKeyspace = ({ space, by }: Range): string => keyspaceAt(space, by, LOWEST_KEY);

/** Ranges with rows are kept as requested, because `schema.ts` caches definitions under the array object that a range returned. */
const isKeptAsInterval = ({ space, rows, prefetch }: Range): boolean =>
  isEntrySpace(space) && (!rows || prefetch === true);
