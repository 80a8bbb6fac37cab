/**
 * What one fetch asks of IndexedDB. How large a row is shows only when it is there: with a bound of bytes a few are asked for at a time, and
 * nothing more once there are enough.
 */
import { entryBytes, rowBytes } from '../src/store/port.ts';
import type { Entry, Found, Range, Row, RowAddress, Space } from '../src/store/port.ts';
import type { Key } from '../src/codec/key.ts';
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
  let rows: readonly (Row | undefined)[] | undefined;
  let ranges: RangesFound | undefined;
  const arrived = (): void => {
    if (!rows || !ranges) return;
    const isCut = rows.length < asked.rows.length || ranges.cut.size > 0;
    const cut = isCut ? { cut: { rows: rows.length, ranges: ranges.cut } } : {};
    settle({ rows, ranges: ranges.found, ...cut });
  };
  requestRows(source, asked, (found) => {
    rows = found;
    arrived();
  });
  requestRanges(source, asked, (found) => {
    ranges = found;
    arrived();
  });
}

/** Answers of one transaction come in the order they were asked for. */
function requestRows(
  { store, onResult, onMeta }: FetchSource,
  { rows: addresses, bytesMax }: Asked,
  take: (rows: readonly (Row | undefined)[]) => void,
): void {
  const found: (Row | undefined)[] = [];
  const most = bytesMax === Infinity ? Infinity : ROWS_UNDER_WAY;
  let bytes = 0;
  let sent = 0;
  let answered = 0;
  const send = (): void => {
    while (sent < addresses.length && sent - answered < most && bytes < bytesMax) ask();
    if (sent === answered) take(found);
  };
  const ask = (): void => {
    const address = addresses[sent];
    sent += 1;
    if (!address) return;
    const { space, key } = address;
    onResult(store(space).get(key), (stored: StoredRow | undefined) => {
      answered += 1;
      if (space === 'meta') onMeta(key, stored?.c);
      if (bytes < bytesMax) {
        const row = stored && rowOf(stored);
        found.push(row);
        if (row) bytes += rowBytes(row);
      }
      send();
    });
  };
  send();
}

interface RangesFound {
  readonly found: readonly (readonly Entry[])[];
  readonly cut: ReadonlySet<number>;
}

function requestRanges(
  { store, onResult }: FetchSource,
  { ranges, bytesMax }: Asked,
  take: (found: RangesFound) => void,
): void {
  const found = ranges.map((): readonly Entry[] => []);
  const cut = new Set(ranges.keys());
  let bytes = 0;
  let sent = 0;
  let underWay = 0;
  let rowsUnderWay = 0;
  let isTaken = false;
  const send = (): void => {
    while (sent < ranges.length && bytes < bytesMax && rowsUnderWay < RANGE_ROWS_UNDER_WAY) {
      const range = ranges[sent];
      sent += 1;
      if (range) askPiece(sent - 1, range);
    }
    if (isTaken || underWay > 0 || (sent < ranges.length && bytes < bytesMax)) return;
    isTaken = true;
    take({ found, cut });
  };
  const askPiece = (at: number, range: Range): void => {
    const piece = bytesMax === Infinity ? range : pieceOf(range);
    const rows = piece === range && !readsRows(range) ? 0 : piece.limit;
    const cost = bytesMax === Infinity ? 0 : rows;
    underWay += 1;
    rowsUnderWay += cost;
    requestRange(store(range.space), piece, onResult, bytesMax, (entries, isStopped) => {
      underWay -= 1;
      rowsUnderWay -= cost;
      const kept = bytes < bytesMax ? withinBytes(entries) : [];
      const before = found[at] ?? [];
      found[at] = before.length > 0 ? [...before, ...kept] : kept;
      const last = kept.at(-1);
      const isAll = kept.length === entries.length && !isStopped;
      if (isAll && (entries.length < piece.limit || piece.limit === range.limit)) cut.delete(at);
      else if (isAll && last && bytes < bytesMax) askPiece(at, restOf(range, last, kept.length));
      send();
    });
  };
  const withinBytes = (entries: readonly Entry[]): readonly Entry[] => {
    if (bytesMax === Infinity) return entries;
    const end = entries.findIndex((entry) => {
      if (bytes >= bytesMax) return true;
      bytes += entryBytes(entry);
      return false;
    });
    return end < 0 ? entries : entries.slice(0, end);
  };
  send();
}

const pieceOf = (range: Range): Range =>
  readsRows(range) && range.limit > PIECE_ROWS ? { ...range, limit: PIECE_ROWS } : range;

function restOf(range: Range, last: Entry, found: number): Range {
  const limit = range.limit - found;
  return range.reverse
    ? { ...range, limit, upper: last.entry }
    : { ...range, limit, lower: (last.entry + '\0') as Key };
}
