/** Reads rows and ranges with requests of IndexedDB. The choices are based on measurements: docs/decisions/0002-rows-in-indexeddb.md. */
import { type Key, keyOfBytes } from '../../src/codec/key.ts';
import { Refusal } from '../../src/errors.ts';
import { compareEntries } from '../../src/store/binary-search.ts';
import { entryBytes, isEntrySpace } from '../../src/store/port.ts';
import type { Entry, Range, Row, Space } from '../../src/store/port.ts';

/** A row in an object store: `k` is its primary key, `e` has a multi-entry index. */
export interface StoredRow {
  readonly k: Key;
  readonly e?: readonly Key[];
  readonly v: string | Uint8Array;
  /** Only in `meta`: the commit that wrote the row. */
  readonly c?: string;
}

/** Passes the result of a request on. A failed request aborts the transaction, so it needs no handler. */
export type OnResult = <T>(request: IDBRequest<T>, take: (result: T) => void) => void;

export const ENTRY_INDEX = 'e';

export function rowOf(stored: StoredRow): Row {
  if (typeof stored.v !== 'string' && !(stored.v instanceof Uint8Array))
    throw new Refusal('local_data_loss', 'A stored row contains neither a string nor bytes.');
  return { key: stored.k, entries: stored.e ?? [], value: stored.v };
}

export const storedRow = (
  space: Space,
  { key, entries, value }: Row,
  commit: string,
): StoredRow => {
  if (isEntrySpace(space)) return { k: key, e: entries, v: value };
  return space === 'meta' ? { k: key, v: value, c: commit } : { k: key, v: value };
};

/** Up to so many entries are read through their rows: `getAll` for a few rows is faster than a cursor. More are read with a key cursor. */
const ENTRIES_BY_ROWS_MAX = 512;
const COUNT_MAX = 0xffff_ffff;

type CursorRequest = IDBRequest<IDBCursorWithValue | null> | IDBRequest<IDBCursor | null>;

/** `isStopped`: reading stopped at the byte limit, so there may be more entries. */
type Take = (entries: readonly Entry[], isStopped: boolean) => void;

/** Reads the entries of a range, in its order: with one request, or with a cursor, which stops at the byte limit. */
export function requestRange(
  store: IDBObjectStore,
  range: Range,
  onResult: OnResult,
  bytesMax: number,
  take: Take,
): void {
  const isNothing = range.lower >= range.upper || range.limit < 1;
  if (isNothing || (range.by === 'entry' && !isEntrySpace(range.space))) return take([], false);
  const walked = (request: CursorRequest): void => walk(request, range, onResult, bytesMax, take);
  if (range.by === 'key') return requestKeys(store, range, onResult, walked, take);
  const index = store.index(ENTRY_INDEX);
  const few = range.limit <= ENTRIES_BY_ROWS_MAX && (!range.reverse || canReverse(index));
  if (!range.rows && !few) return walked(index.openKeyCursor(...span(range)));
  if (range.reverse && !canReverse(index)) return walked(index.openCursor(...span(range)));
  // Most results are empty, because checks of unique values nearly always find nothing.
  onResult(all(index, range), (found) =>
    take(found.length === 0 ? NO_ENTRIES : entriesOfRows(found, range), false),
  );
}

/** Whether reading this range reads whole rows, even if only entries were requested. */
export const readsRows = ({ by, rows, limit }: Range): boolean =>
  rows || (by === 'entry' && limit <= ENTRIES_BY_ROWS_MAX);

function requestKeys(
  store: IDBObjectStore,
  range: Range,
  onResult: OnResult,
  walked: (request: CursorRequest) => void,
  take: Take,
): void {
  if (range.reverse && !canReverse(store)) {
    walked(range.rows ? store.openCursor(...span(range)) : store.openKeyCursor(...span(range)));
  } else if (range.rows) {
    onResult(all(store, range), (found) =>
      take(
        found.map((each) => entryOf(each.k, rowOf(each))),
        false,
      ),
    );
  } else {
    onResult(allKeys(store, range), (keys) =>
      take(
        keys.map((key) => entryOf(key, undefined)),
        false,
      ),
    );
  }
}

const NO_ENTRIES: readonly Entry[] = [];

const entryOf = (key: Key, row: Row | undefined): Entry => ({ entry: key, key, row });

/**
 * The index entries for which `getAll` returned these rows, one per row, in order. `getAll` returns the rows of the first (or last) n
 * entries of the range. Those entries all belong to the returned rows, so they are also the first (or last) n of these rows' entries.
 */
function entriesOfRows(found: readonly StoredRow[], range: Range): readonly Entry[] {
  const { lower, upper, reverse } = range;
  const entries: Entry[] = [];
  const seen = new Set<Key>();
  let isSorted = true;
  for (const stored of found) {
    if (seen.has(stored.k)) continue;
    seen.add(stored.k);
    const row = range.rows ? rowOf(stored) : undefined;
    for (const entry of stored.e ?? []) {
      if (entry < lower || entry >= upper) continue;
      const each = { entry, key: stored.k, row };
      const last = entries.at(-1);
      if (last && compareEntries(last, each) < 0 === reverse) isSorted = false;
      entries.push(each);
    }
  }
  if (!isSorted) entries.sort(reverse ? (a, b) => compareEntries(b, a) : compareEntries);
  return entries.length > found.length ? entries.slice(0, found.length) : entries;
}

/** Reads one entry at a time with a cursor, for ranges that no single request can read. */
function walk(
  request: CursorRequest,
  { by, rows, limit }: Range,
  onResult: OnResult,
  bytesMax: number,
  take: Take,
): void {
  const entries: Entry[] = [];
  let bytes = 0;
  onResult(request as IDBRequest<IDBCursor | null>, (cursor) => {
    if (!cursor) return take(entries, false);
    const row = rows ? rowOf((cursor as IDBCursorWithValue).value as StoredRow) : undefined;
    const key = keyOfBytes(cursor.primaryKey as string);
    const entry = { entry: by === 'entry' ? keyOfBytes(cursor.key as string) : key, key, row };
    entries.push(entry);
    bytes += entryBytes(entry);
    if (entries.length >= limit) take(entries, false);
    else if (bytes >= bytesMax) take(entries, true);
    else cursor.continue();
  });
}

const boundsOf = ({ lower, upper }: Range): IDBKeyRange =>
  IDBKeyRange.bound(lower, upper, false, true);
const span = (range: Range): [IDBKeyRange, IDBCursorDirection] => [
  boundsOf(range),
  range.reverse ? 'prev' : 'next',
];

type Source = IDBObjectStore | IDBIndex;

/**
 * The overload of `getAll` with a direction, which TypeScript does not declare yet. Browsers introduced it together with `getAllRecords`.
 */
interface DirectedSource {
  getAll(options: DirectedQuery): IDBRequest<StoredRow[]>;
  getAllKeys(options: DirectedQuery): IDBRequest<Key[]>;
}
interface DirectedQuery {
  readonly query: IDBKeyRange;
  readonly count: number;
  readonly direction: 'prev';
}

const canReverse = (source: Source): boolean => 'getAllRecords' in source;

function all(source: Source, range: Range): IDBRequest<StoredRow[]> {
  const count = Math.min(range.limit, COUNT_MAX);
  if (!range.reverse) return source.getAll(boundsOf(range), count) as IDBRequest<StoredRow[]>;
  return directed(source).getAll({ query: boundsOf(range), count, direction: 'prev' });
}

function allKeys(source: Source, range: Range): IDBRequest<Key[]> {
  const count = Math.min(range.limit, COUNT_MAX);
  if (!range.reverse)
    return source.getAllKeys(boundsOf(range), count) as IDBRequest<unknown[]> as IDBRequest<Key[]>;
  return directed(source).getAllKeys({ query: boundsOf(range), count, direction: 'prev' });
}

const directed = (source: Source): DirectedSource => source as unknown as DirectedSource;
