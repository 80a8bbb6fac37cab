/**
 * What one fetch asks of IndexedDB. How large a row is shows only when it is there: with a bound of bytes a few are asked for at a time, and
 * nothing more once there are enough.
 */
import type { Key } from '../src/codec/key.ts';
import { entryBytes, rowBytes } from '../src/store/port.ts';
import type { Entry, Found, Range, Row, RowAddress, Space } from '../src/store/port.ts';
import { readsRows, requestRange, rowOf, type OnResult, type StoredRow } from './idb-rows.ts';

/** Rows asked for and not yet there, as long as there is a bound. */
const ROWS_UNDER_WAY = 64;
/** The same of ranges, and what one request of a range asks for. */
const RANGE_ROWS_UNDER_WAY = 256;
const PIECE_ROWS = 128;

export interface FetchSource {
  readonly store: (space: Space) => IDBObjectStore;
  readonly onResult: OnResult;
  /** A row of `meta` was looked at. */
  readonly onMeta: (key: Key, commit: string | undefined) => void;
}

export interface Asked {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Range[];
  readonly bytesMax: number;
}

/** Requests go out now, and in the turns in which others are answered. */
export function requestAll(
  source: FetchSource,
  asked: Asked,
  settle: (found: Found) => void,
): void {
  const rows = new RowRequests(source, asked, () => arrived());
  const ranges = new RangeRequests(source, asked, () => arrived());
  const arrived = (): void => {
    if (!rows.isOver || !ranges.isOver) return;
    const isCut = rows.found.length < asked.rows.length || ranges.cut.size > 0;
    const cut = isCut ? { cut: { rows: rows.found.length, ranges: ranges.cut } } : {};
    settle({ rows: rows.found, ranges: ranges.found, ...cut });
  };
  rows.send();
  ranges.send();
}

/** Answers of one transaction come in the order they were asked for. */
class RowRequests {
  readonly found: (Row | undefined)[] = [];
  isOver = false;
  private readonly source: FetchSource;
  private readonly asked: Asked;
  private readonly onOver: () => void;
  private bytes = 0;
  private sent = 0;
  private answered = 0;

  constructor(source: FetchSource, asked: Asked, onOver: () => void) {
    this.source = source;
    this.asked = asked;
    this.onOver = onOver;
  }

  send(): void {
    while (this.mayAsk()) this.ask();
    if (this.sent > this.answered) return;
    this.isOver = true;
    this.onOver();
  }

  private mayAsk(): boolean {
    const { rows, bytesMax } = this.asked;
    const underWay = this.sent - this.answered;
    const isRoom = bytesMax === Infinity || underWay < ROWS_UNDER_WAY;
    return this.sent < rows.length && isRoom && this.bytes < bytesMax;
  }

  private ask(): void {
    const address = this.asked.rows[this.sent];
    this.sent += 1;
    if (!address) return;
    const { space, key } = address;
    const { store, onResult, onMeta } = this.source;
    onResult(store(space).get(key), (stored: StoredRow | undefined) => {
      this.answered += 1;
      if (space === 'meta') onMeta(key, stored?.c);
      if (this.bytes < this.asked.bytesMax) this.keep(stored && rowOf(stored));
      this.send();
    });
  }

  private keep(row: Row | undefined): void {
    this.found.push(row);
    if (row) this.bytes += rowBytes(row);
  }
}

/** Large ranges are read piece by piece. */
class RangeRequests {
  readonly found: Entry[][];
  /** Places of those not read to their end. */
  readonly cut: Set<number>;
  isOver = false;
  private readonly source: FetchSource;
  private readonly asked: Asked;
  private readonly onOver: () => void;
  private bytes = 0;
  private sent = 0;
  private underWay = 0;
  private rowsUnderWay = 0;

  constructor(source: FetchSource, asked: Asked, onOver: () => void) {
    this.source = source;
    this.asked = asked;
    this.onOver = onOver;
    this.found = asked.ranges.map(() => []);
    this.cut = new Set(asked.ranges.keys());
  }

  send(): void {
    while (this.mayAsk() && this.rowsUnderWay < RANGE_ROWS_UNDER_WAY) {
      const at = this.sent;
      this.sent += 1;
      const range = this.asked.ranges[at];
      if (range) this.ask(at, range);
    }
    if (this.isOver || this.underWay > 0 || this.mayAsk()) return;
    this.isOver = true;
    this.onOver();
  }

  private mayAsk(): boolean {
    return this.sent < this.asked.ranges.length && this.bytes < this.asked.bytesMax;
  }

  /** @param range what is left of the one at that place */
  private ask(at: number, range: Range): void {
    const { bytesMax } = this.asked;
    const isBounded = bytesMax !== Infinity;
    const isPart = isBounded && readsRows(range) && range.limit > PIECE_ROWS;
    const piece = isPart ? { ...range, limit: PIECE_ROWS } : range;
    const rows = isBounded && readsRows(range) ? piece.limit : 0;
    this.underWay += 1;
    this.rowsUnderWay += rows;
    const { store, onResult } = this.source;
    requestRange(store(range.space), piece, onResult, bytesMax, (entries, isStopped) => {
      this.underWay -= 1;
      this.rowsUnderWay -= rows;
      const { count, last } = this.keep(at, entries);
      if (count === entries.length && !isStopped) {
        if (count < piece.limit || !isPart) this.cut.delete(at);
        else if (last && this.bytes < bytesMax) this.ask(at, restOf(range, last, count));
      }
      this.send();
    });
  }

  /** As many of them as there is room for. Returns how many, and the last. */
  private keep(at: number, entries: readonly Entry[]): { count: number; last: Entry | undefined } {
    const found = this.found[at] ?? [];
    const { bytesMax } = this.asked;
    let count = 0;
    for (const entry of entries) {
      if (this.bytes >= bytesMax) break;
      if (bytesMax !== Infinity) this.bytes += entryBytes(entry);
      found.push(entry);
      count += 1;
    }
    return { count, last: found.at(-1) };
  }
}

function restOf(range: Range, last: Entry, found: number): Range {
  const limit = range.limit - found;
  return range.reverse
    ? { ...range, limit, upper: last.entry }
    : { ...range, limit, lower: (last.entry + '\0') as Key };
}
