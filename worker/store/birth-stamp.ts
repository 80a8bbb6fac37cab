/**
 * When a database was born, told inside and outside of it, so that a lost, replaced or rolled-back one is noticed. The stamp
 * inside lies in every space, under a number, where no row has its key. See docs/decisions/0003-durability-and-loss.md.
 */
import { Refusal } from '../../src/errors.ts';
import { SPACES, type Row, type RowAddress } from '../../src/store/port.ts';
import { newerDatabase } from './idb-failure.ts';
import type { IdbTransaction } from './idb-transaction.ts';

/** What was lost before this store was opened. `head` counts as the head row does; undefined: not known. */
export type Loss =
  /** The database was gone, and a new, empty one took its place. */
  | { readonly kind: 'recreated'; readonly lastHead: number }
  /** It has gone back to an earlier state. */
  | { readonly kind: 'rolled-back'; readonly lastHead: number; readonly head: number };

export interface Birth {
  readonly birth: string;
  /** Of the stored data: 1 and the number of migrations. */
  readonly format: number;
}

export interface Stamp extends Birth {
  readonly k: typeof STAMP_KEY;
  /** The birth that the marker outside told of when this database was made. */
  readonly replaces?: string;
  /** Not yet acknowledged. Only in `meta`. */
  readonly loss?: Loss;
}

export interface Marker {
  readonly birth: string;
  readonly head: number;
}

/** The row whose value grows with each commit, and how to read it. */
export interface HeadRow {
  readonly address: RowAddress;
  read(row: Row | undefined): number;
}

export const STAMP_KEY = 0;

export interface Settled extends Birth {
  readonly loss: Loss | undefined;
  readonly head: number;
}

/** What the stamps say, made whole or refused. Runs in a transaction over all spaces. @throws Refusal `local_data_loss` */
export async function settleBirth(
  tx: IdbTransaction,
  headRow: HeadRow,
  outside: Marker | undefined,
  fresh: Birth,
): Promise<Settled> {
  const [stamps, found, synced] = await Promise.all([
    Promise.all(SPACES.map((space) => tx.raw(space, STAMP_KEY))),
    tx.fetch([headRow.address], []),
    tx.count('sync'),
  ]);
  const stamp = stamps[SPACES.indexOf('meta')];
  const head = headRow.read(found.rows[0]);
  if (stamps.every((each) => each === undefined)) return stampNew(tx, outside, fresh);
  stampAdded(tx, stamps, synced);
  if (!isStamp(stamp) || !stamps.every((each) => isBirth(each) && each.birth === stamp.birth))
    throw partlyGone();
  if (stamp.format > fresh.format) throw newerDatabase();
  const { birth, format } = stamp;
  const loss = stamp.loss ?? lossAt(stamp, head, outside);
  if (loss && loss !== stamp.loss) tx.putRaw('meta', { ...stamp, loss });
  return { birth, format, loss, head };
}

async function stampNew(
  tx: IdbTransaction,
  outside: Marker | undefined,
  fresh: Birth,
): Promise<Settled> {
  const counts = await Promise.all(SPACES.map((space) => tx.count(space)));
  if (counts.some((count) => count > 0)) throw partlyGone();
  const loss: Loss | undefined = outside && { kind: 'recreated', lastHead: outside.head };
  for (const space of SPACES) {
    const stamp: Stamp = { k: STAMP_KEY, ...fresh, ...(outside && { replaces: outside.birth }) };
    tx.putRaw(space, space === 'meta' && loss ? { ...stamp, loss } : stamp);
  }
  return { ...fresh, loss, head: 0 };
}

/** A database from before there was `sync` has just been given it, empty. */
function stampAdded(tx: IdbTransaction, stamps: unknown[], rows: number): void {
  const added = SPACES.indexOf('sync');
  const stamp = stamps[SPACES.indexOf('meta')];
  if (stamps[added] !== undefined || rows > 0 || !isStamp(stamp)) return;
  const { loss: _, ...own } = stamp;
  tx.putRaw('sync', own);
  stamps[added] = own;
}

function lossAt(
  { birth, replaces }: Stamp,
  head: number,
  outside: Marker | undefined,
): Loss | undefined {
  // The marker outside had not heard of this birth when the browser stopped.
  if (!outside || outside.birth === replaces) return undefined;
  if (outside.birth !== birth) return { kind: 'recreated', lastHead: outside.head };
  return outside.head > head ? { kind: 'rolled-back', lastHead: outside.head, head } : undefined;
}

/** @throws Refusal when the database is not the one that was opened any more, or not in the format this code writes */
export function requireBirth(stamp: unknown, expected: Birth): void {
  if (!isBirth(stamp) || stamp.birth !== expected.birth) throw replaced();
  if (stamp.format !== expected.format) throw newerDatabase();
}

/** What the names of commits to this database, in this format, begin with. */
export const birthPrefix = ({ birth, format }: Birth): string => `${birth}.${format}.`;

/** The application has been told of the loss. */
export async function forgetLoss(tx: IdbTransaction): Promise<void> {
  const stamp = await tx.raw('meta', STAMP_KEY);
  if (!isStamp(stamp)) throw replaced();
  const { loss: _told, ...rest } = stamp;
  tx.putRaw('meta', rest);
}

export const markerText = ({ birth, head }: Marker): string => JSON.stringify({ birth, head });

/** Undefined when the text tells nothing. */
export function parseMarker(text: string | undefined): Marker | undefined {
  if (text === undefined) return undefined;
  try {
    // `null` has no members: that throws too.
    const { birth, head } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return typeof birth === 'string' && typeof head === 'number' ? { birth, head } : undefined;
  } catch {
    return undefined;
  }
}

function isBirth(value: unknown): value is Birth {
  if (typeof value !== 'object' || value === null || !('birth' in value && 'format' in value))
    return false;
  return typeof value.birth === 'string' && typeof value.format === 'number';
}

/** Written by this file only: what has a birth is whole. */
export const isStamp = (value: unknown): value is Stamp => isBirth(value) && 'k' in value;

export const replaced = (): Refusal =>
  new Refusal(
    'local_data_loss',
    'The local database was cleared or replaced while it was open. Nothing was written. Reload the page to see what remains.',
  );

const partlyGone = (): Refusal =>
  new Refusal(
    'local_data_loss',
    'Part of the local database is missing, so the rest cannot be trusted. Delete the database with destroy() to start again.',
  );
