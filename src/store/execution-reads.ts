/** Records what one execution reads, and limits how much each of its queries may read. */
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { rowBytes, type Entry, type Range, type Row, type RowAddress } from './port.ts';
import { Suspended } from './reader.ts';
import { rangeName, rowName } from './snapshot-cache.ts';

/** What a query read. A later commit that changes any of it may change the answer. */
export interface ReadSet {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Range[];
}

export interface HeldRange {
  readonly entries: readonly Entry[];
  /** Prefetched rows are not counted: how many of them arrived does not depend on the query. */
  readonly bytes: number;
}

/** Rows and ranges that the execution can read without a fetch. */
interface Held {
  /** Undefined: not cached. `null`: the row is known to be absent. */
  peek(address: RowAddress): Row | null | undefined;
  known(range: Range): HeldRange | undefined;
}

export class Reads implements ReadSet {
  readonly rows: RowAddress[] = [];
  readonly ranges: Range[] = [];
  bytes = 0;
  /** Reads of the running query. */
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

  /** Runs a query and refuses it if it reads more than `LIMITS.readBytes`. @throws Refusal */
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

/** The reads of one query of an execution. Each row and range counts once, no matter how often it is read. */
class QueryReads {
  /** Why the query was refused. Thrown again if a predicate caught it: a predicate that failed for this reason has decided nothing. */
  refusal: Refusal | undefined = undefined;
  /** Counts repeated reads again until the limit is reached; then `requireRoom` replaces it with the exact size. */
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
