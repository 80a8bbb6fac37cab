/** Reads rows and ranges with requests of IndexedDB. The choices are based on measurements: docs/decisions/0002-rows-in-indexeddb.md. */
import { type Key, keyOfBytes } from '../../src/codec/key.ts';
import { Refusal } from '../../src/errors.ts';
import { compareEntries } from '../../src/store/binary-search.ts';
import { entryBytes, isEntrySpace } from '../../src/store/port.ts';
import type { Entry, Range, Row, Space } from '../../src/store/port.ts';
import type { NativeTransaction } from './native-transaction.ts';

/** A row in an object store: `k` is its primary key, `e` has a multi-entry index. */
export interface StoredRow {
  readonly k: Key;
  readonly e?: readonly Key[];
  readonly v: string | Uint8Array;
  /** Only in `meta`: the commit that wrote the row. */
  readonly c?: string;
}

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

export interface ReadRange {
  readonly found: readonly Entry[];
  /** Reading stopped at the byte limit, so there may be more entries. */
  readonly isStopped: boolean;
}

/** Reads the entries of a range, in its order: with one request, or with a cursor, which stops at the byte limit. */
export async function readRange(
  tx: NativeTransaction,
  range: Range,
  bytesMax: number,
): Promise<ReadRange> {
  const { space, by, rows, reverse, limit } = range;
  const isNothing = range.lower >= range.upper || limit < 1;
  if (isNothing || (by === 'entry' && !isEntrySpace(space))) return whole([]);
  const isWalked = reverse && !canReverse();
  if (by === 'key') {
    if (isWalked) return walk(tx, range, bytesMax);
    if (rows) {
      const found = await tx.answer((store) => all(store, range), space);
      return whole(found.map((each) => entryOf(each.k, rowOf(each))));
    }
    const keys = await tx.answer((store) => allKeys(store, range), space);
    return whole(keys.map((key) => entryOf(key, undefined)));
  }
  if (isWalked || (!rows && limit > ENTRIES_BY_ROWS_MAX)) return walk(tx, range, bytesMax);
  return whole(entriesOfRows(await tx.answer((store) => all(indexOf(store), range), space), range));
}

const whole = (found: readonly Entry[]): ReadRange => ({ found, isStopped: false });

/** Whether reading this range reads whole rows, even if only entries were requested. */
export const readsRows = ({ by, rows, limit }: Range): boolean =>
  rows || (by === 'entry' && limit <= ENTRIES_BY_ROWS_MAX);

const entryOf = (key: Key, row: Row | undefined): Entry => ({ entry: key, key, row });

const indexOf = (store: IDBObjectStore): IDBIndex => store.index(ENTRY_INDEX);

/**
 * The index entries for which `getAll` returned these rows, one per row, in order. `getAll` returns the rows of the first (or last) n
 * entries of the range. Those entries all belong to the returned rows, so they are also the first (or last) n of these rows' entries.
 */
function entriesOfRows(found: readonly StoredRow[], range: Range): readonly Entry[] {
  const { lower, upper, reverse } = range;
  const entries: Entry[] = [];
  const seen = new Set<Key>();
  for (const stored of found) {
    if (seen.has(stored.k)) continue;
    seen.add(stored.k);
    const row = range.rows ? rowOf(stored) : undefined;
    for (const entry of stored.e ?? []) {
      if (entry >= lower && entry < upper) entries.push({ entry, key: stored.k, row });
    }
  }
  entries.sort(reverse ? (a, b) => compareEntries(b, a) : compareEntries);
  return entries.length > found.length ? entries.slice(0, found.length) : entries;
}

/** Reads one entry at a time with a cursor, for ranges that no single request can read. */
async function walk(tx: NativeTransaction, range: Range, bytesMax: number): Promise<ReadRange> {
  const { space, by, rows, limit } = range;
  const found: Entry[] = [];
  let bytes = 0;
  const open = (store: IDBObjectStore): IDBRequest<IDBCursor | null> => {
    const source = by === 'entry' ? indexOf(store) : store;
    const cursors = rows ? source.openCursor(...span(range)) : source.openKeyCursor(...span(range));
    return cursors as IDBRequest<IDBCursor | null>;
  };
  let isStopped = false;
  await tx.walk(open, space, (cursor) => {
    const row = rows ? rowOf((cursor as IDBCursorWithValue).value as StoredRow) : undefined;
    const key = keyOfBytes(cursor.primaryKey as string);
    const entry = { entry: by === 'entry' ? keyOfBytes(cursor.key as string) : key, key, row };
    found.push(entry);
    bytes += entryBytes(entry);
    isStopped = found.length < limit && bytes >= bytesMax;
    return found.length < limit && !isStopped;
  });
  return { found, isStopped };
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

const canReverse = (): boolean => 'getAllRecords' in IDBObjectStore.prototype;

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
