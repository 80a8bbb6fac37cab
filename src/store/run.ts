/**
 * The facts of one run of one query or group, at one head: what it fetched itself, so that eviction from the cache cannot make it run in
 * circles, and what the cache knows. What one attempt may read is bounded, and so is what is fetched ahead of it.
 */
import type { Key } from '../codec/key.ts';
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { Micros } from '../values/value.ts';
import { rangeName, rowName, type FactCache } from './facts.ts';
import { ENTRY_OVERHEAD_BYTES, entryBytes, rowBytes } from './port.ts';
import type { Entry, Found, Range, ReadTx, Row, RowAddress, Space } from './port.ts';
import { Suspended, type Need, type Reader } from './reader.ts';

export type StoreNeed = Extract<Need, { readonly kind: 'row' | 'range' }>;

export interface FetchPlan {
  readonly rows: readonly RowAddress[];
  /** What is asked of the store… */
  readonly ranges: readonly Range[];
  /** …and the needs that it answers, or the rest of which it is. */
  readonly needed: readonly Range[];
  /** Not at the same go. */
  readonly later: readonly StoreNeed[];
}

export interface ReadSet {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Range[];
}

interface HeldRange {
  readonly entries: readonly Entry[];
  /** Without rows that were only hoped for: how many of them came does not depend on the query. */
  readonly bytes: number;
}

type Begun = Map<string, { readonly entries: readonly Entry[]; readonly rest: Range }>;

/** Each thing needed once; of ranges with rows only the first. */
export function planOf(needs: readonly StoreNeed[], begun?: Begun): FetchPlan {
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
    const asked = begun?.get(name)?.rest ?? need.range;
    const hasRoom = !asked.rows || withRows < LIMITS.fetchRangesWithRows;
    if (asked.rows && hasRoom) withRows += 1;
    if (hasRoom) ranges.set(name, { needed: need.range, asked });
    else if (asked.hoped)
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
/** What may be held beside what was read, before it is let go. */
const SLACK_BYTES = 2 * LIMITS.fetchBytes;

export class Run implements Reader {
  private readonly cache: FactCache;
  private readonly head: Micros | undefined;
  /** By space and key: keys are at hand, names would have to be made. */
  private rows = new Map<Space, Map<Key, Row | undefined>>();
  private ranges = new Map<string, HeldRange>();
  /** First entries of ranges that are too large to be fetched at one go. */
  private begun: Begun = new Map();
  private heldBytes = 0;
  private roomUntil = LIMITS.readBytes + SLACK_BYTES;
  /** What the present attempt has read. */
  private reads = new Reads(this);
  private readBefore = 0;
  /** What the present attempt took to be absent without having looked. */
  private presumed: StoreNeed[] = [];

  /** @param head the commit this run's snapshot shows: the cache is used only while it is at the same one */
  constructor(cache: FactCache, head: Micros | undefined) {
    this.cache = cache;
    this.head = head;
  }

  /** The next attempt. */
  begin(): void {
    this.readBefore += this.reads.bytes;
    this.reads = new Reads(this);
    this.presumed = [];
  }

  /** All attempts of a group begin anew. */
  beginGroup(): void {
    this.begin();
    this.readBefore = 0;
  }

  /** What the query reads may not take more than `LIMITS.readBytes`: else it is refused, whatever it makes of that. @throws Refusal */
  bounded<T>(query: () => T): T {
    return this.reads.bounded(query);
  }

  /** Whether the attempts of a group have read as much as one may. */
  get isFull(): boolean {
    return this.readBefore + this.reads.bytes > LIMITS.readBytes;
  }

  /** What must turn out to be absent for the outcome of the present attempt to hold. */
  get presumptions(): readonly StoreNeed[] {
    return this.presumed;
  }

  /** Whether all that was presumed absent is known to be so by now. */
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

  row(address: RowAddress): Row | undefined {
    const found = this.peek(address);
    this.reads.addRow(address, found);
    if (found === undefined) throw new Suspended([{ kind: 'row', address }]);
    return found ?? undefined;
  }

  unlikelyRow(address: RowAddress): Row | undefined {
    const found = this.peek(address);
    this.reads.addRow(address, found);
    if (found === undefined) this.presumed.push({ kind: 'row', address });
    return found ?? undefined;
  }

  range(range: Range): readonly Entry[] {
    const found = this.known(range);
    this.reads.addRange(range, found);
    if (found) return found.entries;
    // More than may be read: then the rest of it does not matter.
    const begun = this.begun.get(rangeName(range));
    if (begun) this.reads.query?.requireRoomFor(countedBytes(range, begun.entries));
    throw new Suspended([{ kind: 'range', range }]);
  }

  unlikelyRange(range: Range): readonly Entry[] {
    const found = this.known(range);
    this.reads.addRange(range, found);
    if (!found) this.presumed.push({ kind: 'range', range });
    return found?.entries ?? NO_ENTRIES;
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

  known(range: Range): HeldRange | undefined {
    const name = rangeName(range);
    const own = this.ranges.get(name);
    if (own) return own;
    const cached = this.cacheIsMine() ? this.cache.range(range, name) : undefined;
    if (!cached) return undefined;
    const rows = range.rows ? this.rowsOf(range.space) : undefined;
    for (const { key, row } of cached) if (row) rows?.set(key, row);
    const held = { entries: cached, bytes: countedBytes(range, cached) };
    this.ranges.set(name, held);
    this.heldBytes += held.bytes;
    return held;
  }

  /**
   * Gets what is needed from the transaction: all of it in one batch, or of much the first part. The next attempt asks for the rest.
   * @param readSets of the attempts that need it: what else is held may be let go
   */
  async fetch(
    tx: ReadTx,
    needs: readonly StoreNeed[],
    readSets: readonly ReadSet[],
  ): Promise<void> {
    this.makeRoom(needs, readSets);
    const until = this.heldBytes + LIMITS.fetchBytes;
    let plan = planOf(needs, this.begun);
    for (;;) {
      this.keep(plan, await tx.fetch(plan.rows, plan.ranges, LIMITS.fetchBytes));
      if (plan.later.length === 0 || this.heldBytes >= until) return;
      plan = planOf(plan.later, this.begun);
    }
  }

  keep(plan: FetchPlan, { rows, ranges, cut }: Found): void {
    plan.rows.forEach((address, i) => {
      if (!cut || i < cut.rows) this.keepRow(address, rows[i]);
    });
    plan.needed.forEach((range, i) => {
      const isCut = cut?.ranges.has(i) ?? false;
      const asked = plan.ranges[i];
      if (asked) this.keepPart(range, asked, ranges[i] ?? NO_ENTRIES, isCut);
    });
  }

  private keepPart(range: Range, asked: Range, found: readonly Entry[], isCut: boolean): void {
    const name = rangeName(range);
    const begun = this.begun.get(name);
    const entries = begun ? [...begun.entries, ...found] : found;
    const last = found.at(-1);
    if (!isCut) {
      this.begun.delete(name);
      this.keepRange(range, name, entries);
    } else if (last) {
      this.begun.set(name, { entries: [...entries], rest: restOf(asked, last, found.length) });
      this.heldBytes += bytesOf(found);
    } else if (!begun && asked.hoped) {
      this.begun.set(name, { entries: [], rest: { ...asked, rows: false } });
    }
  }

  private keepRow(address: RowAddress, row: Row | undefined): void {
    const { space, key } = address;
    this.hold(space, key, row);
    if (this.cacheIsMine()) this.cache.keepRow(rowName(space, key), row);
  }

  private keepRange(range: Range, name: string, entries: readonly Entry[]): void {
    this.ranges.set(name, { entries, bytes: countedBytes(range, entries) });
    this.heldBytes += bytesOf(entries);
    const shared = this.cacheIsMine();
    if (shared) this.cache.keepRange(range, name, entries);
    if (!range.rows) return;
    const rows = this.rowsOf(range.space);
    for (const { key, row } of entries) {
      if (!row) continue;
      rows.set(key, row);
      if (shared) this.cache.keepRow(rowName(range.space, key), row);
    }
  }

  /** Lets go of what was fetched ahead and not read. */
  private makeRoom(needs: readonly StoreNeed[], readSets: readonly ReadSet[]): void {
    if (this.heldBytes <= this.roomUntil) return;
    const { rows, ranges, begun } = this;
    this.rows = new Map();
    this.ranges = new Map();
    this.begun = new Map();
    this.heldBytes = 0;
    for (const readSet of readSets) {
      for (const { space, key } of readSet.rows) {
        const before = rows.get(space);
        if (before?.has(key) && !this.rowsOf(space).has(key))
          this.hold(space, key, before.get(key));
      }
      for (const range of readSet.ranges) {
        const name = rangeName(range);
        const held = ranges.get(name);
        if (!held || this.ranges.has(name)) continue;
        this.ranges.set(name, range.hoped ? withoutRows(held) : held);
        this.heldBytes += held.bytes;
      }
    }
    // Of ranges that are too large for one go, the one that is waited for.
    const first = needs.find((need) => need.kind === 'range');
    const name = first && rangeName(first.range);
    const part = name === undefined ? undefined : begun.get(name);
    if (name !== undefined && part) {
      this.begun.set(name, part);
      this.heldBytes += bytesOf(part.entries);
    }
    this.roomUntil = Math.max(LIMITS.readBytes, this.heldBytes) + SLACK_BYTES;
  }

  private hold(space: Space, key: Key, row: Row | undefined): void {
    this.rowsOf(space).set(key, row);
    this.heldBytes += row ? rowBytes(row) : key.length;
  }

  private rowsOf(space: Space): Map<Key, Row | undefined> {
    let rows = this.rows.get(space);
    if (!rows) this.rows.set(space, (rows = new Map()));
    return rows;
  }

  private cacheIsMine(): boolean {
    return this.head !== undefined && this.cache.head === this.head;
  }
}

type Held = Pick<Run, 'peek' | 'known'>;

/** What one attempt has read. */
class Reads implements ReadSet {
  readonly rows: RowAddress[] = [];
  readonly ranges: Range[] = [];
  bytes = 0;
  /** Of the query that runs. */
  query: QueryReads | undefined = undefined;
  private readonly held: Held;

  constructor(held: Held) {
    this.held = held;
  }

  addRow(address: RowAddress, row: Row | null | undefined): void {
    this.rows.push(address);
    if (row) this.add(rowBytes(row));
  }

  addRange(range: Range, held: HeldRange | undefined): void {
    this.ranges.push(range);
    if (held) this.add(held.bytes);
  }

  /** @throws Refusal */
  bounded<T>(query: () => T): T {
    const reads = new QueryReads(this, this.held);
    this.query = reads;
    try {
      const value = query();
      if (reads.refusal) throw reads.refusal;
      return value;
    } catch (thrown) {
      throw thrown instanceof Suspended ? thrown : (reads.refusal ?? thrown);
    } finally {
      this.query = undefined;
      this.bytes += reads.bytes;
    }
  }

  private add(bytes: number): void {
    if (this.query) this.query.add(bytes);
    else this.bytes += bytes;
  }
}

/** What one query has read, of all that its attempt reads: each thing counts once, however often it is read. */
class QueryReads {
  /** Why it may not go on: a predicate that failed for it has decided nothing. */
  refusal: Refusal | undefined = undefined;
  /** Too high while things read twice were not looked for. */
  bytes = 0;
  private readonly reads: ReadSet;
  private readonly held: Held;
  private exact = 0;
  private readonly counted = new Set<string>();
  private rowsCounted: number;
  private rangesCounted: number;

  constructor(reads: ReadSet, held: Held) {
    this.reads = reads;
    this.held = held;
    this.rowsCounted = reads.rows.length;
    this.rangesCounted = reads.ranges.length;
  }

  add(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > LIMITS.readBytes) this.requireRoom();
  }

  private requireRoom(): void {
    const { rows, ranges } = this.reads;
    for (; this.rowsCounted < rows.length; this.rowsCounted += 1) {
      const address = rows[this.rowsCounted];
      const row =
        address && this.isFirst(rowName(address.space, address.key)) && this.held.peek(address);
      if (row) this.exact += rowBytes(row);
    }
    for (; this.rangesCounted < ranges.length; this.rangesCounted += 1) {
      const range = ranges[this.rangesCounted];
      const held = range && this.isFirst(rangeName(range)) && this.held.known(range);
      if (held) this.exact += held.bytes;
    }
    this.bytes = this.exact;
    this.requireRoomFor(this.exact);
  }

  requireRoomFor(bytes: number): void {
    if (bytes <= LIMITS.readBytes) return;
    this.refusal ??= new Refusal(
      'limit_exceeded',
      `The query reads more than the limit of ${LIMITS.readBytes} bytes of documents and index entries.`,
    );
    throw this.refusal;
  }

  private isFirst(name: string): boolean {
    if (this.counted.has(name)) return false;
    this.counted.add(name);
    return true;
  }
}

const bytesOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, entry) => sum + entryBytes(entry), ENTRY_OVERHEAD_BYTES);

const countedBytes = ({ hoped }: Range, entries: readonly Entry[]): number =>
  hoped
    ? entries.reduce((sum, { entry }) => sum + ENTRY_OVERHEAD_BYTES + entry.length, 0)
    : bytesOf(entries);

const withoutRows = ({ entries, bytes }: HeldRange): HeldRange => ({
  entries: entries.map(({ entry, key }) => ({ entry, key, row: undefined })),
  bytes,
});

/** What is left of a range after the last of so many entries; rows that are only hoped for are not brought along any more. */
function restOf(range: Range, last: Entry, found: number): Range {
  const rest = { ...range, limit: range.limit - found, rows: range.rows && !range.hoped };
  return range.reverse
    ? { ...rest, upper: last.entry }
    : { ...rest, lower: (last.entry + '\0') as Key };
}
