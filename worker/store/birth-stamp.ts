/**
 * The identity and format of a database, stored in the database (stamps) and outside it (marker), to detect that a database was lost,
 * replaced or rolled back. Each object store contains a stamp, under a number that no row has as its key. See
 * docs/decisions/0003-durability-and-loss.md.
 */
import { membersOf, tryJson } from '../../src/codec/plain-json.ts';
import { Refusal } from '../../src/errors.ts';
import type { Row, RowAddress } from '../../src/store/port.ts';
import { newerDatabase } from './idb-failure.ts';
import type { NativeTransaction } from './native-transaction.ts';

/** What was lost before this store was opened. `head` and `lastHead` are times of commits in µs, as in the head row. */
export type Loss =
  /** The database was gone and has been replaced by a new, empty one. */
  | { readonly kind: 'recreated'; readonly lastHead: number }
  /** The database has returned to an earlier state. */
  | { readonly kind: 'rolled-back'; readonly lastHead: number; readonly head: number };

export interface Birth {
  readonly birth: string;
  /** Format of the stored data. */
  readonly format: number;
}

export interface Stamp extends Birth {
  readonly k: typeof STAMP_KEY;
  /** The birth that the marker outside had when this database was created. */
  readonly replaces?: string;
  /** A loss that is not acknowledged yet. Only in `meta`. */
  readonly loss?: Loss;
  /** Set until all rows that were copied into log and blocks are removed. Only in `meta`. */
  readonly formerRows?: true;
}

export interface Marker {
  readonly birth: string;
  readonly head: number;
}

/** The row whose value grows with each commit, and how to read that value. */
export interface HeadRow {
  readonly address: RowAddress;
  read(row: Row | undefined): number;
}

export const STAMP_KEY = 0;

/** An object store that contains a stamp. */
export interface StampedStore {
  readonly name: string;
  /** The property of its rows that is their key. */
  readonly key: string;
  /** Databases that older versions of the app created do not have this object store. */
  readonly isLater?: true;
}

const NOT_COUNTED = Promise.resolve(undefined);

export interface SettledStamp {
  /** The stamp in `meta`. */
  readonly stamp: Stamp;
  readonly isNew: boolean;
}

/**
 * Checks the stamps of all object stores. A new database gets its stamps; an object store added by a newer version of the app gets its
 * own. Runs in a transaction over all object stores.
 * @throws Refusal `local_data_loss` when stamps are missing or differ; `storage_unavailable` when the data has a newer format
 */
export async function settleStamps(
  tx: NativeTransaction,
  stores: readonly StampedStore[],
  outside: Marker | undefined,
  fresh: Birth,
): Promise<SettledStamp> {
  const [stamps, counts] = await Promise.all([
    Promise.all(stores.map(({ name }) => tx.raw(name, STAMP_KEY))),
    Promise.all(stores.map(({ name, isLater }) => (isLater ? tx.count(name) : NOT_COUNTED))),
  ]);
  if (stamps.every((each) => each === undefined))
    return { stamp: await stampNew(tx, stores, outside, fresh), isNew: true };
  const stamp = stamps[stores.findIndex(({ name }) => name === 'meta')];
  if (!isStamp(stamp)) throw partlyGone();
  for (const [at, store] of stores.entries())
    if (counts[at] === 0 && stamps[at] === undefined) stamps[at] = stampAdded(tx, store, stamp);
  if (!stamps.every((each) => isBirth(each) && each.birth === stamp.birth)) throw partlyGone();
  if (stamp.format > fresh.format) throw newerDatabase();
  return { stamp, isNew: false };
}

/** What was lost; also records it in the stamp. @param head time of the last commit in the database */
export function settleLoss(
  tx: NativeTransaction,
  stamp: Stamp,
  head: number,
  outside: Marker | undefined,
): Loss | undefined {
  const loss = stamp.loss ?? lossAt(stamp, head, outside);
  if (loss && loss !== stamp.loss) tx.putRaw('meta', { ...stamp, loss });
  return loss;
}

async function stampNew(
  tx: NativeTransaction,
  stores: readonly StampedStore[],
  outside: Marker | undefined,
  fresh: Birth,
): Promise<Stamp> {
  const counts = await Promise.all(stores.map(({ name }) => tx.count(name)));
  if (counts.some((count) => count > 0)) throw partlyGone();
  const own = { ...fresh, ...(outside && { replaces: outside.birth }) };
  const loss: Loss | undefined = outside && { kind: 'recreated', lastHead: outside.head };
  const stamp: Stamp = { k: STAMP_KEY, ...own, ...(loss && { loss }) };
  for (const { name, key } of stores)
    tx.putRaw(name, name === 'meta' ? stamp : { [key]: STAMP_KEY, ...own });
  return stamp;
}

/** Stamps an empty object store that an upgrade has just added to an older database. */
function stampAdded(tx: NativeTransaction, { name }: StampedStore, stamp: Stamp): Birth {
  const { loss: _, ...own } = stamp;
  tx.putRaw(name, own);
  return own;
}

/** Undefined when nothing was lost. @param head time of the last commit in the database */
export function lossAt(
  { birth, replaces }: Stamp,
  head: number,
  outside: Marker | undefined,
): Loss | undefined {
  // The browser stopped after this database was created, but before its birth was written to the marker.
  if (!outside || outside.birth === replaces) return undefined;
  if (outside.birth !== birth) return { kind: 'recreated', lastHead: outside.head };
  return outside.head > head ? { kind: 'rolled-back', lastHead: outside.head, head } : undefined;
}

/** @throws Refusal when the stamp is not that of the database that was opened, or has another format than this code writes */
export function requireBirth(stamp: unknown, expected: Birth): void {
  if (!isBirth(stamp) || stamp.birth !== expected.birth) throw replaced();
  if (stamp.format !== expected.format) throw newerDatabase();
}

/** The prefix of the names of all commits to this database in this format. */
export const birthPrefix = ({ birth, format }: Birth): string => `${birth}.${format}.`;

/** Removes the loss from the stamp, once the application has acknowledged it. */
export async function forgetLoss(tx: NativeTransaction): Promise<void> {
  const stamp = await tx.raw('meta', STAMP_KEY);
  if (!isStamp(stamp)) throw replaced();
  const { loss: _told, ...rest } = stamp;
  tx.putRaw('meta', rest);
}

export const markerText = ({ birth, head }: Marker): string => JSON.stringify({ birth, head });

/** Undefined when the text is not a valid marker. */
export function parseMarker(text: string | undefined): Marker | undefined {
  const { birth, head } = membersOf(tryJson(text));
  return typeof birth === 'string' && typeof head === 'number' ? { birth, head } : undefined;
}

function isBirth(value: unknown): value is Birth {
  if (typeof value !== 'object' || value === null || !('birth' in value && 'format' in value))
    return false;
  return typeof value.birth === 'string' && typeof value.format === 'number';
}

/** Only this file writes stamps, so a stamp that has a birth is complete. */
export const isStamp = (value: unknown): value is Stamp => isBirth(value) && 'k' in value;

export const replaced = (): Refusal =>
  new Refusal(
    'local_data_loss',
    'The local database was cleared or replaced while it was open. Nothing was written. Open it again, or reload the page, to see what remains.',
  );

const partlyGone = (): Refusal =>
  new Refusal(
    'local_data_loss',
    'Part of the local database is missing, so the rest cannot be trusted. Copy it with salvageDatabase(), or start again with forgetDatabase().',
  );
