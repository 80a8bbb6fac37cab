/**
 * Executes one fetch in a native transaction. The size of a row is known only after it has arrived, so with a byte limit a few rows are
 * requested at a time, and no more once the limit is reached.
 */
import type { Key } from '../../src/codec/key.ts';
import { entryBytes, rowBytes } from '../../src/store/port.ts';
import type { Entry, Found, Range, Row, RowAddress } from '../../src/store/port.ts';
import { restAfter } from '../../src/store/scan.ts';
import { readRange, readsRows, rowOf, type StoredRow } from './idb-rows.ts';
import type { NativeTransaction } from './native-transaction.ts';

/** How many rows are requested at a time, if there is a byte limit. */
const ROWS_AT_A_TIME = 64;
/** The same limit for the rows of ranges, and the number of rows that one request of a range reads. */
const RANGE_ROWS_AT_A_TIME = 256;
const PIECE_ROWS = 128;

/** Reads rows and ranges at the same time. */
export async function fetchAll(
  tx: NativeTransaction,
  rows: readonly RowAddress[],
  ranges: readonly Range[],
  bytesMax: number,
  onMeta: (key: Key, commit: string | undefined) => void,
): Promise<Found> {
  const [found, { entries, truncated }] = await Promise.all([
    readRows(tx, rows, bytesMax, onMeta),
    readRanges(tx, ranges, bytesMax),
  ]);
  if (found.length === rows.length && truncated.size === 0) return { rows: found, ranges: entries };
  return {
    rows: found,
    ranges: entries,
    truncation: { rows: found.length, ranges: truncated },
  };
}

/** @param onMeta called for each row of `meta` that is read */
async function readRows(
  tx: NativeTransaction,
  wanted: readonly RowAddress[],
  bytesMax: number,
  onMeta: (key: Key, commit: string | undefined) => void,
): Promise<readonly (Row | undefined)[]> {
  const found: (Row | undefined)[] = [];
  const step = bytesMax === Infinity ? wanted.length : ROWS_AT_A_TIME;
  let bytes = 0;
  for (let at = 0; at < wanted.length && bytes < bytesMax; at += step) {
    const arrived = await Promise.all(
      wanted.slice(at, at + step).map(async ({ space, key }) => {
        const stored = await tx.answer<StoredRow | undefined>((store) => store.get(key), space);
        if (space === 'meta') onMeta(key, stored?.c);
        return stored;
      }),
    );
    for (const stored of arrived) {
      if (bytes >= bytesMax) break;
      const row = stored && rowOf(stored);
      found.push(row);
      bytes += row ? rowBytes(row) : 0;
    }
  }
  return found;
}

/** `truncated`: positions of the ranges that were not read to their end. */
async function readRanges(
  tx: NativeTransaction,
  wanted: readonly Range[],
  bytesMax: number,
): Promise<{ readonly entries: readonly Entry[][]; readonly truncated: ReadonlySet<number> }> {
  const truncated = new Set(wanted.keys());
  let bytes = 0;
  const isFull = (): boolean => bytes >= bytesMax;
  const entries = wanted.map((): Entry[] => []);
  /** Keeps as many entries as the byte limit allows. Returns whether all were kept. */
  const keep = (at: number, more: readonly Entry[]): boolean => {
    for (const entry of more) {
      if (isFull()) return false;
      bytes += entryBytes(entry);
      entries[at]?.push(entry);
    }
    return true;
  };
  /** Large ranges are read in pieces. */
  const read = async ([at, range]: Numbered): Promise<void> => {
    for (let rest = range; !isFull();) {
      const isPart = bytesMax !== Infinity && readsRows(rest) && rest.limit > PIECE_ROWS;
      const piece = isPart ? { ...rest, limit: PIECE_ROWS } : rest;
      const { found, isStopped } = await readRange(tx, piece, bytesMax);
      if (!keep(at, found) || isStopped) return;
      const last = found.at(-1);
      if (!isPart || !last || found.length < piece.limit) {
        truncated.delete(at);
        return;
      }
      rest = restAfter(rest, last, found.length);
    }
  };
  for (const batch of batchesOf(wanted, bytesMax)) await Promise.all(batch.map(read));
  return { entries, truncated };
}

/** A range and its position in the fetch. */
type Numbered = readonly [at: number, range: Range];

/** Ranges that are read at the same time: all of them, or, with a byte limit, those that bring few rows together. */
function* batchesOf(wanted: readonly Range[], bytesMax: number): Generator<readonly Numbered[]> {
  let batch: Numbered[] = [];
  let rows = 0;
  for (const numbered of wanted.entries()) {
    batch.push(numbered);
    const [, range] = numbered;
    if (readsRows(range)) rows += Math.min(range.limit, PIECE_ROWS);
    if (bytesMax === Infinity || rows < RANGE_ROWS_AT_A_TIME) continue;
    yield batch;
    batch = [];
    rows = 0;
  }
  yield batch;
}
