/**
 * What is known of the store as of one commit (`head`): a bounded cache of rows and ranges, kept right by the commits that follow.
 * A `Run` reads through it and keeps what it fetched itself, so that eviction cannot make a query run in circles.
 */
import { after, type Key } from '../codec/key.ts';
import type { Micros } from '../values/value.ts';
import { isEntrySpace, isTrackedSpace } from './port.ts';
import type {
  Entry,
  EntrySpace,
  Range,
  ReadTx,
  Row,
  RowAddress,
  Space,
  TrackedSpace,
  WriteSet,
} from './port.ts';
import { Suspended, type Need, type Reader } from './reader.ts';

export type StoreNeed = Extract<Need, { readonly kind: 'row' | 'range' }>;

interface KnownRange {
  readonly range: Range;
  readonly entries: readonly Entry[];
}

/** Keys of one index, or of one collection, share their first bytes: database and index or collection number. */
const GROUP_BYTES = 8;
/** Past this many changed keys in one group its ranges are dropped unseen: cheaper than looking at each. */
const CHANGES_LOOKED_AT_MAX = 32;

export class FactCache {
  /** The commit these facts are true of; undefined: nothing is known. */
  head: Micros | undefined = undefined;
  private young = new Map<string, Row | undefined>();
  private old = new Map<string, Row | undefined>();
  private youngBytes = 0;
  private readonly groups = new Map<string, Map<string, KnownRange>>();
  private rangeBytes = 0;
  private readonly bytesMax: number;

  /** @param bytesMax rough size of all rows kept, and again of all ranges kept */
  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  forget(head: Micros | undefined): void {
    this.head = head;
    this.young = new Map();
    this.old = new Map();
    this.youngBytes = 0;
    this.groups.clear();
    this.rangeBytes = 0;
  }

  /** Undefined: not known. `null`: known to be absent. */
  row(name: string): Row | null | undefined {
    const young = this.young.get(name);
    if (young) return young;
    if (this.young.has(name)) return null;
    if (!this.old.has(name)) return undefined;
    const row = this.old.get(name);
    this.keepRow(name, row);
    return row ?? null;
  }

  range(range: Range, name: string): readonly Entry[] | undefined {
    return this.groups.get(groupOf(range))?.get(name)?.entries;
  }

  keepRow(name: string, row: Row | undefined): void {
    this.young.set(name, row);
    this.youngBytes += row ? rowBytes(row) : name.length;
    if (this.youngBytes > this.bytesMax / 2) {
      this.old = this.young;
      this.young = new Map();
      this.youngBytes = 0;
    }
  }

  keepRange(range: Range, name: string, entries: readonly Entry[]): void {
    const group = groupOf(range);
    let known = this.groups.get(group);
    if (!known) this.groups.set(group, (known = new Map()));
    known.set(name, { range, entries });
    this.rangeBytes += rangeBytes(entries);
    while (this.rangeBytes > this.bytesMax) this.evictRange();
  }

  /** Moves on to the state after a commit, when that commit followed the present head; forgets everything otherwise. */
  advance(commit: Changes): void {
    if (this.head !== undefined && commit.ts <= this.head) return;
    if (commit.previous !== this.head) {
      this.forget(commit.ts);
      return;
    }
    this.head = commit.ts;
    for (const { space, key, row } of commit.rows) {
      const name = rowName(space, key);
      if (row === 'unknown') {
        this.young.delete(name);
        this.old.delete(name);
      } else this.keepRow(name, row);
    }
    this.dropRanges(commit.rows, 'key');
    this.dropRanges(commit.entries, 'entry');
  }

  private dropRanges(
    changed: readonly { readonly space: Space; readonly key: Key }[],
    by: Range['by'],
  ): void {
    const changesByGroup = new Map<string, { space: Space; keys: Key[] }>();
    for (const { space, key } of changed) {
      for (const group of [
        groupName(space, by, key.slice(0, GROUP_BYTES)),
        groupName(space, by, ''),
      ]) {
        if (!this.groups.has(group)) continue;
        const changes = changesByGroup.get(group);
        if (changes) changes.keys.push(key);
        else changesByGroup.set(group, { space, keys: [key] });
      }
    }
    for (const [group, { keys }] of changesByGroup) {
      const known = this.groups.get(group);
      if (!known) continue;
      for (const [name, each] of known) {
        if (keys.length <= CHANGES_LOOKED_AT_MAX && !keys.some((key) => covers(each, key)))
          continue;
        known.delete(name);
        this.rangeBytes -= rangeBytes(each.entries);
      }
      if (known.size === 0) this.groups.delete(group);
    }
  }

  private evictRange(): void {
    for (const [group, known] of this.groups) {
      for (const [name, each] of known) {
        known.delete(name);
        this.rangeBytes -= rangeBytes(each.entries);
        break;
      }
      if (known.size === 0) this.groups.delete(group);
      return;
    }
    this.rangeBytes = 0;
  }
}

/** What a commit changed, as far as a cache must know. `'unknown'`: changed, but the new row is not at hand. */
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

const NO_ENTRIES: readonly Entry[] = [];

/** Facts of one run of one query or group, at one head. */
export class Run implements Reader {
  private readonly cache: FactCache;
  private readonly head: Micros | undefined;
  /** By space and key: keys are at hand, names would have to be made. */
  private readonly rows = new Map<Space, Map<Key, Row | undefined>>();
  private readonly ranges = new Map<string, readonly Entry[]>();
  /** What the present attempt has read; cleared by `begin`. */
  private readRows: RowAddress[] = [];
  private readRanges: Range[] = [];
  /** What the present attempt took to be absent without having looked. */
  private presumed: StoreNeed[] = [];

  /** @param head the commit this run's snapshot shows: the cache is used only while it is at the same one */
  constructor(cache: FactCache, head: Micros | undefined) {
    this.cache = cache;
    this.head = head;
  }

  begin(): void {
    this.readRows = [];
    this.readRanges = [];
    this.presumed = [];
  }

  /** What must turn out to be absent for the outcome of the present attempt to hold. */
  get presumptions(): readonly StoreNeed[] {
    return this.presumed;
  }

  /** Whether all that was presumed absent is known to be so by now. */
  isAbsent(needs: readonly StoreNeed[]): boolean {
    return needs.every((need) =>
      need.kind === 'row' ? this.peek(need.address) === null : this.known(need.range)?.length === 0,
    );
  }

  readSet(): { readonly rows: readonly RowAddress[]; readonly ranges: readonly Range[] } {
    return { rows: this.readRows, ranges: this.readRanges };
  }

  row(address: RowAddress): Row | undefined {
    this.readRows.push(address);
    const found = this.peek(address);
    if (found === undefined) throw new Suspended([{ kind: 'row', address }]);
    return found ?? undefined;
  }

  unlikelyRow(address: RowAddress): Row | undefined {
    this.readRows.push(address);
    const found = this.peek(address);
    if (found === undefined) this.presumed.push({ kind: 'row', address });
    return found ?? undefined;
  }

  unlikelyRange(range: Range): readonly Entry[] {
    this.readRanges.push(range);
    const found = this.known(range);
    if (!found) this.presumed.push({ kind: 'range', range });
    return found ?? NO_ENTRIES;
  }

  /** Undefined: not known. `null`: known to be absent. */
  peek(address: RowAddress): Row | null | undefined {
    const { space, key } = address;
    const rows = this.rows.get(space);
    const own = rows?.get(key);
    if (own) return own;
    if (rows?.has(key)) return null;
    return this.cacheIsMine() ? this.cache.row(rowName(space, key)) : undefined;
  }

  range(range: Range): readonly Entry[] {
    this.readRanges.push(range);
    const found = this.known(range);
    if (found) return found;
    throw new Suspended([{ kind: 'range', range }]);
  }

  private known(range: Range): readonly Entry[] | undefined {
    const name = rangeName(range);
    const own = this.ranges.get(name);
    if (own) return own;
    const cached = this.cacheIsMine() ? this.cache.range(range, name) : undefined;
    if (cached) {
      this.ranges.set(name, cached);
      if (range.rows) {
        const rows = this.rowsOf(range.space);
        for (const { key, row } of cached) rows.set(key, row);
      }
    }
    return cached;
  }

  /** Gets what is needed from the transaction, in one batch. */
  async fetch(tx: ReadTx, needs: readonly StoreNeed[]): Promise<void> {
    const plan = planOf(needs);
    this.keep(plan, await tx.fetch(plan.rows, plan.ranges));
  }

  keep(plan: FetchPlan, found: Awaited<ReturnType<ReadTx['fetch']>>): void {
    plan.rows.forEach((address, i) => this.keepRow(address, found.rows[i]));
    plan.ranges.forEach((range, i) => this.keepRange(range, found.ranges[i] ?? []));
  }

  private keepRow(address: RowAddress, row: Row | undefined): void {
    const { space, key } = address;
    this.rowsOf(space).set(key, row);
    if (this.cacheIsMine()) this.cache.keepRow(rowName(space, key), row);
  }

  private rowsOf(space: Space): Map<Key, Row | undefined> {
    let rows = this.rows.get(space);
    if (!rows) this.rows.set(space, (rows = new Map()));
    return rows;
  }

  private keepRange(range: Range, entries: readonly Entry[]): void {
    const name = rangeName(range);
    this.ranges.set(name, entries);
    const shared = this.cacheIsMine();
    if (shared) this.cache.keepRange(range, name, entries);
    if (!range.rows) return;
    const rows = this.rowsOf(range.space);
    for (const { key, row } of entries) {
      rows.set(key, row);
      if (shared) this.cache.keepRow(rowName(range.space, key), row);
    }
  }

  private cacheIsMine(): boolean {
    return this.head !== undefined && this.cache.head === this.head;
  }
}

/** Rows as a write set leaves them, for `FactCache.advance` and for listeners. */
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
    const has = row?.entries ?? [];
    for (const key of had) if (!has.includes(key)) entries.push({ space, key });
    for (const key of has) entries.push({ space, key });
  };
  for (const { space, row } of writes.puts) note({ space, key: row.key }, row);
  for (const address of writes.deletes) note(address, undefined);
  return { previous, ts, rows, entries };
}

/** Whether a change of `key` may change what was read. */
export function isInRange(range: Range, key: Key): boolean {
  return key >= range.lower && key < range.upper;
}

function covers({ range, entries }: KnownRange, key: Key): boolean {
  if (!isInRange(range, key)) return false;
  const last = entries.at(-1);
  if (entries.length < range.limit || !last) return true;
  return range.reverse ? key >= last.entry : key <= last.entry;
}

const rowName = (space: Space, key: Key): string => space[0] + key;

const rangeName = (range: Range): string =>
  `${range.space[0]}${range.by[0]}${range.rows ? 'r' : 'k'}${range.reverse ? '-' : '+'}${range.limit}|${range.lower.length}|${range.lower}${range.upper}`;

const groupName = (space: Space, by: Range['by'], prefix: string): string => space[0] + by + prefix;

function groupOf(range: Range): string {
  const prefix = range.lower.slice(0, GROUP_BYTES) as Key;
  const whole = prefix.length === GROUP_BYTES && range.upper <= after(prefix);
  return groupName(range.space, range.by, whole ? prefix : '');
}

export interface FetchPlan {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Range[];
}

/** Each thing needed once. */
export function planOf(needs: readonly StoreNeed[]): FetchPlan {
  const rows = new Map<string, RowAddress>();
  const ranges = new Map<string, Range>();
  for (const need of needs) {
    if (need.kind === 'row') rows.set(rowName(need.address.space, need.address.key), need.address);
    else ranges.set(rangeName(need.range), need.range);
  }
  return { rows: [...rows.values()], ranges: [...ranges.values()] };
}

const ROW_OVERHEAD_BYTES = 100;
const ENTRY_BYTES = 120;

function rowBytes(row: Row): number {
  let bytes = ROW_OVERHEAD_BYTES + row.key.length + row.value.length;
  for (const entry of row.entries) bytes += entry.length;
  return bytes;
}

const rangeBytes = (entries: readonly Entry[]): number => (entries.length + 1) * ENTRY_BYTES;
