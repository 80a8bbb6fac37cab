/**
 * What one fetch asks of IndexedDB. How large a row is shows only when it is there: with a bound of bytes a few are asked for at a time, and
 * nothing more once there are enough.
 */
import type { Key } from '../../src/codec/key.ts';
import { entryBytes, rowBytes } from '../../src/store/port.ts';
import type { Entry, Found, Range, Row, RowAddress, Space } from '../../src/store/port.ts';
import { rangeAfter } from '../../src/store/scan.ts';
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

export interface FetchRequest {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Range[];
  readonly bytesMax: number;
}

/** Requests go out now, and in the turns in which others are answered. */
export function requestAll(
  source: FetchSource,
  { rows, ranges, bytesMax }: FetchRequest,
  settle: (found: Found) => void,
): void {
  const arrived = (): void => {
    if (!rowQueue.isOver || !rangeQueue.isOver) return;
    const isTruncated = foundRows.length < rows.length || truncated.size > 0;
    settle({
      rows: foundRows,
      ranges: entries,
      ...(isTruncated && { truncation: { rows: foundRows.length, ranges: truncated } }),
    });
  };
  const { queue: rowQueue, found: foundRows } = queueRows(source, rows, bytesMax, arrived);
  const { queue: rangeQueue, entries, truncated } = queueRanges(source, ranges, bytesMax, arrived);
  rowQueue.send();
  rangeQueue.send();
}

interface RequestQueueOptions<Wanted> {
  readonly wanted: readonly Wanted[];
  readonly bytesMax: number;
  /** Under way, as long as there is a bound of bytes. */
  readonly rowsMax: number;
  readonly ask: (wanted: Wanted, at: number) => void;
  readonly onOver: () => void;
}

/** Things asked for one after the other: few rows at a time where bytes are bounded, and nothing more once there are enough. */
class RequestQueue<Wanted> {
  isOver = false;
  private readonly options: RequestQueueOptions<Wanted>;
  private bytes = 0;
  private sent = 0;
  private inFlight = 0;
  private rowsUnderWay = 0;

  constructor(options: RequestQueueOptions<Wanted>) {
    this.options = options;
  }

  get isBounded(): boolean {
    return this.options.bytesMax !== Infinity;
  }

  get isFull(): boolean {
    return this.bytes >= this.options.bytesMax;
  }

  send(): void {
    const { wanted, rowsMax, ask, onOver } = this.options;
    while (this.hasMore && this.rowsUnderWay < rowsMax) {
      const next = wanted[this.sent];
      this.sent += 1;
      if (next !== undefined) ask(next, this.sent - 1);
    }
    if (this.isOver || this.inFlight > 0 || this.hasMore) return;
    this.isOver = true;
    onOver();
  }

  /** @param rows that it brings at most */
  begin(rows: number): void {
    this.inFlight += 1;
    if (this.isBounded) this.rowsUnderWay += rows;
  }

  take(bytes: number): void {
    this.bytes += bytes;
  }

  /** The answer has been taken, and what else it asks for has gone out. */
  end(rows: number): void {
    this.inFlight -= 1;
    if (this.isBounded) this.rowsUnderWay -= rows;
    this.send();
  }

  private get hasMore(): boolean {
    return this.sent < this.options.wanted.length && !this.isFull;
  }
}

/** Answers of one transaction come in the order they were asked for. */
function queueRows(
  { store, onResult, onMeta }: FetchSource,
  wanted: readonly RowAddress[],
  bytesMax: number,
  onOver: () => void,
): { readonly queue: RequestQueue<RowAddress>; readonly found: readonly (Row | undefined)[] } {
  const found: (Row | undefined)[] = [];
  const ask = ({ space, key }: RowAddress): void => {
    queue.begin(1);
    onResult(store(space).get(key), (stored: StoredRow | undefined) => {
      if (space === 'meta') onMeta(key, stored?.c);
      if (!queue.isFull) {
        const row = stored && rowOf(stored);
        found.push(row);
        if (row) queue.take(rowBytes(row));
      }
      queue.end(1);
    });
  };
  const queue = new RequestQueue({ wanted, bytesMax, rowsMax: ROWS_UNDER_WAY, ask, onOver });
  return { queue, found };
}

/** Large ranges are read piece by piece. `truncated`: positions of those not read to their end. */
function queueRanges(
  { store, onResult }: FetchSource,
  wanted: readonly Range[],
  bytesMax: number,
  onOver: () => void,
): {
  readonly queue: RequestQueue<Range>;
  readonly entries: Entry[][];
  readonly truncated: ReadonlySet<number>;
} {
  const entries: Entry[][] = wanted.map(() => []);
  const truncated = new Set(wanted.keys());
  /** As many as there is room for. Returns whether that was all. */
  const keep = (into: Entry[], more: readonly Entry[]): boolean => {
    for (const entry of more) {
      if (queue.isFull) return false;
      queue.take(entryBytes(entry));
      into.push(entry);
    }
    return true;
  };
  /** @param range what is left of the one at that place */
  const ask = (range: Range, at: number): void => {
    const bringsRows = readsRows(range);
    const isPart = queue.isBounded && bringsRows && range.limit > PIECE_ROWS;
    const piece = isPart ? { ...range, limit: PIECE_ROWS } : range;
    const rows = bringsRows ? piece.limit : 0;
    queue.begin(rows);
    requestRange(store(range.space), piece, onResult, bytesMax, (more, isStopped) => {
      const into = entries[at] ?? [];
      const isKept = keep(into, more);
      const last = into.at(-1);
      if (isKept && !isStopped) {
        if (!isPart || more.length < piece.limit) truncated.delete(at);
        else if (last && !queue.isFull) ask(restOf(range, last, more.length), at);
      }
      queue.end(rows);
    });
  };
  const queue = new RequestQueue({ wanted, bytesMax, rowsMax: RANGE_ROWS_UNDER_WAY, ask, onOver });
  return { queue, entries, truncated };
}

const restOf = (range: Range, last: Entry, found: number): Range => ({
  ...rangeAfter(range, last),
  limit: range.limit - found,
});
