/**
 * Reads one snapshot for the executions of one query or commit group: from the cache, and from what the reader itself fetched, so that
 * evictions from the cache cannot cause an endless loop of fetches. The size of the reads of one execution is limited, and so are
 * prefetches.
 */
import { LIMITS } from '../limits.ts';
import type { Micros } from '../values/value.ts';
import { RowMap } from './row-map.ts';
import { rangeName, rowName, type SnapshotCache } from './snapshot-cache.ts';
import { Reads, type HeldRange, type ReadSet } from './execution-reads.ts';
import { ENTRY_OVERHEAD_BYTES, rangeBytes, rowBytes } from './port.ts';
import type { Entry, Found, Range, ReadTx, Row, RowAddress } from './port.ts';
import { Suspended, type Need, type Reader } from './reader.ts';
import { restAfter } from './scan.ts';

export type StoreNeed = Extract<Need, { readonly kind: 'row' | 'range' }>;

export interface FetchPlan {
  readonly rows: readonly RowAddress[];
  /** The ranges that are requested from the store… */
  readonly ranges: readonly Range[];
  /** …and the needed ranges, in the same order, which the requested ones meet in whole or in part. */
  readonly needed: readonly Range[];
  /** Needs left for a later fetch. */
  readonly later: readonly StoreNeed[];
}

type PartialRanges = Map<string, { readonly entries: readonly Entry[]; readonly rest: Range }>;

/** Plans a fetch: each need once. Of ranges with rows, only the first ones; further prefetches are planned without rows. */
export function planOf(needs: readonly StoreNeed[], partial?: PartialRanges): FetchPlan {
  const rows = new Map<string, RowAddress>();
  const ranges = new Map<string, { needed: Range; asked: Range }>();
  const later: StoreNeed[] = [];
  let withRows = 0;
  for (const need of needs) {
    if (need.kind === 'row') {
      rows.set(rowName(need.address.space, need.address.key), need.address);
      continue;
    }
    const name = rangeName(need.range);
    if (ranges.has(name)) continue;
    const asked = partial?.get(name)?.rest ?? need.range;
    const hasRoom = !asked.rows || withRows < LIMITS.fetchRangesWithRows;
    if (asked.rows && hasRoom) withRows += 1;
    if (hasRoom) ranges.set(name, { needed: need.range, asked });
    else if (asked.prefetch)
      ranges.set(name, { needed: need.range, asked: { ...asked, rows: false } });
    else later.push(need);
  }
  const all = [...ranges.values()];
  return {
    rows: [...rows.values()],
    ranges: all.map(({ asked }) => asked),
    needed: all.map(({ needed }) => needed),
    later,
  };
}

const NO_ENTRIES: readonly Entry[] = [];
/** Size of what may be held in addition to what was read, before it is evicted. */
const SLACK_BYTES = 2 * LIMITS.fetchBytes;

export class SnapshotReader implements Reader {
  private readonly cache: SnapshotCache;
  private readonly head: Micros | undefined;
  private readonly fetchBytes: number;
  /** `null`: the row is absent. */
  private rows = new RowMap<Row | null>();
  private ranges = new Map<string, HeldRange>();
  /** By ranges whose beginning was cached: the range that was requested instead. */
  private readonly rests = new Map<string, Range>();
  /** The first entries of ranges that are too large for one fetch. */
  private partial: PartialRanges = new Map();
  private heldBytes = 0;
  private roomUntil = LIMITS.readBytes + SLACK_BYTES;
  /** Reads of the current execution. */
  private reads = new Reads(this);
  private readBefore = 0;
  /**
   * Rows and ranges that the current execution assumed absent without a read, so that its result is valid only if they are. A row is listed
   * once, a range once per `Range` object.
   */
  assumedAbsent: StoreNeed[] = [];
  private assumedRows = new RowMap<true>();
  private assumedRanges = new Set<Range>();

  /**
   * @param head the commit that the snapshot shows: the cache is used only while its head is the same
   * @param fetchBytes the most that one fetch may return
   */
  constructor(cache: SnapshotCache, head: Micros | undefined, fetchBytes: number) {
    this.cache = cache;
    this.head = head;
    this.fetchBytes = fetchBytes;
  }

  /** Starts the next execution. */
  begin(): void {
    this.readBefore += this.reads.bytes;
    this.reads = new Reads(this);
    this.assumedAbsent = [];
    this.assumedRows = new RowMap();
    this.assumedRanges = new Set();
  }

  /** Starts all executions of a group again. */
  beginGroup(): void {
    this.begin();
    this.readBefore = 0;
  }

  /** Refuses a query whose reads exceed `LIMITS.readBytes`, even if it catches the error. @throws Refusal */
  bounded<T>(query: () => T): T {
    return this.reads.bounded(query);
  }

  /** Whether the executions of a group have together read as much as one query may. */
  get isFull(): boolean {
    return this.readBefore + this.reads.bytes > LIMITS.readBytes;
  }

  /** Whether all of these rows and ranges are now known to be absent. */
  isAbsent(needs: readonly StoreNeed[]): boolean {
    return needs.every((need) =>
      need.kind === 'row'
        ? this.peek(need.address) === null
        : this.known(need.range)?.entries.length === 0,
    );
  }

  readSet(): ReadSet {
    const { rows, ranges } = this.reads;
    return { rows, ranges };
  }

  row(address: RowAddress, assumed?: 'absent'): Row | undefined {
    if (assumed && this.assumedRows.has(address)) return undefined;
    const found = this.peek(address);
    this.reads.addRow(address, found);
    if (found !== undefined) return found ?? undefined;
    if (!assumed) throw new Suspended([{ kind: 'row', address }]);
    this.assumedRows.set(address, true);
    this.assumedAbsent.push({ kind: 'row', address });
    return undefined;
  }

  range(range: Range, assumed?: 'empty'): readonly Entry[] {
    if (assumed && this.assumedRanges.has(range)) return NO_ENTRIES;
    const found = this.known(range);
    this.reads.addRange(range, found);
    if (found) return found.entries;
    if (assumed) {
      this.assumedRanges.add(range);
      this.assumedAbsent.push({ kind: 'range', range });
      return NO_ENTRIES;
    }
    const asked = this.restOf(range);
    // If the part that was fetched exceeds the limit of reads already, the rest is not fetched.
    const partial = this.partial.get(rangeName(asked));
    if (partial) this.reads.query?.requireRoomFor(countedBytes(asked, partial.entries));
    throw new Suspended([{ kind: 'range', range: asked }]);
  }

  /** The part of the range that was not cached when it was first read; all of it, if the cached beginning was evicted since. */
  private restOf(range: Range): Range {
    const name = rangeName(range);
    const before = this.rests.get(name);
    if (before) return this.known(before) ? range : before;
    const rest = (this.isCacheAtHead() ? this.cache.rest(range) : undefined) ?? range;
    this.rests.set(name, rest);
    return rest;
  }

  /** Undefined: not cached. `null`: known to be absent. */
  peek(address: RowAddress): Row | null | undefined {
    const own = this.rows.get(address);
    if (own !== undefined) return own;
    return this.isCacheAtHead() ? this.cache.row(address) : undefined;
  }

  known(range: Range): HeldRange | undefined {
    const name = rangeName(range);
    const own = this.ranges.get(name);
    if (own) return own;
    const cached = this.isCacheAtHead() ? this.cache.range(range, name) : undefined;
    if (!cached) return undefined;
    if (range.rows)
      for (const { key, row } of cached) if (row) this.rows.set({ space: range.space, key }, row);
    const held = { entries: cached, bytes: countedBytes(range, cached) };
    this.ranges.set(name, held);
    this.heldBytes += held.bytes;
    return held;
  }

  /**
   * Fetches the needs in one batch, or the first part of them if they are large; the next execution requests the rest.
   * @param readSets of the executions that are waiting for the fetch: everything else that is held may be evicted
   */
  async fetch(
    tx: ReadTx,
    needs: readonly StoreNeed[],
    readSets: readonly ReadSet[],
  ): Promise<void> {
    this.makeRoom(needs, readSets);
    const until = this.heldBytes + this.fetchBytes;
    let plan = planOf(needs, this.partial);
    for (;;) {
      this.keep(plan, await tx.fetch(plan.rows, plan.ranges, this.fetchBytes));
      if (plan.later.length === 0 || this.heldBytes >= until) return;
      plan = planOf(plan.later, this.partial);
    }
  }

  keep(plan: FetchPlan, { rows, ranges, truncation }: Found): void {
    plan.rows.forEach((address, i) => {
      if (!truncation || i < truncation.rows) this.keepRow(address, rows[i]);
    });
    plan.needed.forEach((range, i) => {
      const isTruncated = truncation?.ranges.has(i) ?? false;
      const asked = plan.ranges[i];
      if (asked) this.keepPart(range, asked, ranges[i] ?? NO_ENTRIES, isTruncated);
    });
  }

  private keepPart(
    range: Range,
    asked: Range,
    found: readonly Entry[],
    isTruncated: boolean,
  ): void {
    const name = rangeName(range);
    const partial = this.partial.get(name);
    const entries = partial ? [...partial.entries, ...found] : found;
    const last = found.at(-1);
    if (!isTruncated) {
      this.partial.delete(name);
      this.keepRange(range, name, entries);
    } else if (last) {
      // Rows are prefetched only with the first part.
      const rest = { ...restAfter(asked, last, found.length), rows: asked.rows && !asked.prefetch };
      this.partial.set(name, { entries: [...entries], rest });
      this.heldBytes += rangeBytes(found);
    } else if (!partial && asked.prefetch) {
      this.partial.set(name, { entries: [], rest: { ...asked, rows: false } });
    }
  }

  private keepRow(address: RowAddress, row: Row | undefined): void {
    this.hold(address, row ?? null);
    if (this.isCacheAtHead()) this.cache.keepRow(address, row);
  }

  private keepRange(range: Range, name: string, entries: readonly Entry[]): void {
    this.ranges.set(name, { entries, bytes: countedBytes(range, entries) });
    this.heldBytes += rangeBytes(entries);
    const shared = this.isCacheAtHead();
    if (shared) this.cache.keepRange(range, name, entries);
    if (!range.rows) return;
    for (const { key, row } of entries) {
      if (!row) continue;
      const address = { space: range.space, key };
      this.rows.set(address, row);
      if (shared) this.cache.keepRow(address, row);
    }
  }

  /** Evicts prefetched rows and ranges that were not read, if too much is held. */
  private makeRoom(needs: readonly StoreNeed[], readSets: readonly ReadSet[]): void {
    if (this.heldBytes <= this.roomUntil) return;
    const { rows, ranges, partial } = this;
    this.rows = new RowMap();
    this.ranges = new Map();
    this.partial = new Map();
    this.heldBytes = 0;
    for (const readSet of readSets) {
      for (const address of readSet.rows) {
        const before = rows.get(address);
        if (before !== undefined && !this.rows.has(address)) this.hold(address, before);
      }
      for (const range of readSet.ranges) {
        const name = rangeName(range);
        const held = ranges.get(name);
        if (!held || this.ranges.has(name)) continue;
        this.ranges.set(name, range.prefetch ? withoutRows(held) : held);
        this.heldBytes += held.bytes;
      }
    }
    // Keeps the first part of a range too large for one fetch, because the execution is waiting for the rest.
    const first = needs.find((need) => need.kind === 'range');
    const name = first && rangeName(first.range);
    const part = name === undefined ? undefined : partial.get(name);
    if (name !== undefined && part) {
      this.partial.set(name, part);
      this.heldBytes += rangeBytes(part.entries);
    }
    this.roomUntil = Math.max(LIMITS.readBytes, this.heldBytes) + SLACK_BYTES;
  }

  private hold(address: RowAddress, row: Row | null): void {
    this.rows.set(address, row);
    this.heldBytes += row ? rowBytes(row) : address.key.length;
  }

  private isCacheAtHead(): boolean {
    return this.head !== undefined && this.cache.head === this.head;
  }
}

const countedBytes = ({ prefetch }: Range, entries: readonly Entry[]): number =>
  prefetch
    ? entries.reduce((sum, { entry }) => sum + ENTRY_OVERHEAD_BYTES + entry.length, 0)
    : rangeBytes(entries);

const withoutRows = ({ entries, bytes }: HeldRange): HeldRange => ({
  entries: entries.map(({ entry, key }) => ({ entry, key, row: undefined })),
  bytes,
});
