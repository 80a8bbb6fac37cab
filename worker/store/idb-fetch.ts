/**
 * Sends the requests of one fetch to IndexedDB. The size of a row is known only after it has arrived, so with a byte limit a few rows are
 * requested at a time, and no more once the limit is reached.
 */
import type { Key } from '../../src/codec/key.ts';
import { entryBytes, rowBytes } from '../../src/store/port.ts';
import type { Entry, Found, Range, Row, RowAddress, Space } from '../../src/store/port.ts';
import { restAfter } from '../../src/store/scan.ts';
import { readsRows, requestRange, rowOf, type OnResult, type StoredRow } from './idb-rows.ts';

/** How many rows may be requested and not yet received, if there is a byte limit. */
const ROWS_UNDER_WAY = 64;
/** The same limit for the rows of ranges, and the number of rows that one request of a range reads. */
const RANGE_ROWS_UNDER_WAY = 256;
const PIECE_ROWS = 128;

export interface FetchSource {
  readonly store: (space: Space) => IDBObjectStore;
  readonly onResult: OnResult;
  /** Called for each row of `meta` that is read. */
  readonly onMeta: (key: Key, commit: string | undefined) => void;
}

export interface FetchRequest {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Range[];
  readonly bytesMax: number;
}

/** Sends requests now, and more of them as earlier ones are answered. */
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
  /** How many rows may be requested and not yet received, if there is a byte limit. */
  readonly rowsMax: number;
  readonly ask: (wanted: Wanted, at: number) => void;
  readonly onOver: () => void;
}

/** Sends requests in order. With a byte limit, few rows are requested at a time, and no more once the limit is reached. */
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

  /** @param rows how many rows the request may return */
  begin(rows: number): void {
    this.inFlight += 1;
    if (this.isBounded) this.rowsUnderWay += rows;
  }

  take(bytes: number): void {
    this.bytes += bytes;
  }

  /** The result has been processed, and any further request for the same item has been sent. */
  end(rows: number): void {
    this.inFlight -= 1;
    if (this.isBounded) this.rowsUnderWay -= rows;
    this.send();
  }

  private get hasMore(): boolean {
    return this.sent < this.options.wanted.length && !this.isFull;
  }
}

/** IndexedDB answers the requests of one transaction in the order in which they were sent. */
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

/** Large ranges are read in pieces. `truncated`: positions of the ranges that were not read to their end. */
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
  /** Keeps as many entries as the byte limit allows. Returns whether all were kept. */
  const keep = (into: Entry[], more: readonly Entry[]): boolean => {
    for (const entry of more) {
      if (queue.isFull) return false;
      queue.take(entryBytes(entry));
      into.push(entry);
    }
    return true;
  };
  /** @param range the part of the range at position `at` that has not been read yet */
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
        else if (last && !queue.isFull) ask(restAfter(range, last, more.length), at);
      }
      queue.end(rows);
    });
  };
  const queue = new RequestQueue({ wanted, bytesMax, rowsMax: RANGE_ROWS_UNDER_WAY, ask, onOver });
  return { queue, entries, truncated };
}
