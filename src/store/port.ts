/**
 * The store port: six spaces of rows with ordered keys; rows of two of them have index entries. All calls are
 * batched. Adapters: memory (`memory.ts`), IndexedDB (`worker/store/`), PostgreSQL (`hub/store/`).
 */
import type { Key } from '../codec/key.ts';
import { assert } from '../errors.ts';

/**
 * - `documents`: current versions of documents, schema objects, keys, tokens; with index entries.
 * - `history`: superseded versions and delete markers; its entries are the index entries that ended with the version.
 * - `sync`: what keeps stores in step: of a device its outbox, verdicts and cursor; of a hub devices, verdicts and the log of changes.
 * - `meta`: the head (last commit), format version, birth marker, fences.
 * - `log`: query log records, by time.
 * - `files`: finished exports and their requests.
 */
export const SPACES = ['documents', 'history', 'sync', 'meta', 'log', 'files'] as const;
export type Space = (typeof SPACES)[number];
/**
 * The spaces of query transactions. Log and files have transactions of their own, so that neither waits for the
 * other.
 */
export const HOT_SPACES = [
  'documents',
  'history',
  'sync',
  'meta',
] as const satisfies readonly Space[];
/** Whether a transaction may touch the space: a bug otherwise. */
export function requireWithin(spaces: readonly Space[], space: Space): void {
  assert(
    spaces.includes(space),
    () => `this transaction covers ${spaces.join(', ')}, not ${space}`,
  );
}
/** Spaces whose rows carry index entries. */
export type EntrySpace = 'documents' | 'history';
export const isEntrySpace = (space: Space): space is EntrySpace =>
  space === 'documents' || space === 'history';
/** Spaces that transactions of the engine write; each commit reports its changes there. */
export const TRACKED_SPACES = ['documents', 'history', 'sync'] as const satisfies readonly Space[];
export type TrackedSpace = (typeof TRACKED_SPACES)[number];
export const isTrackedSpace = (space: Space): space is TrackedSpace =>
  isEntrySpace(space) || space === 'sync';

export interface Row {
  readonly key: Key;
  /** The row's index entries: distinct, and none in spaces without entries. */
  readonly entries: readonly Key[];
  /** Opaque to the store. Text, or bytes for files. */
  readonly value: string | Uint8Array;
}

/** An index entry that was found. `entry === key` when the range was over primary keys. */
export interface Entry {
  readonly entry: Key;
  /** Primary key of the row it belongs to. */
  readonly key: Key;
  /** Present if the range requested rows. */
  readonly row: Row | undefined;
}

/** `[lower, upper)`, at most `limit` results, ascending, or descending from `upper` when `reverse`. */
export interface Range {
  readonly space: Space;
  /** Over index entries, or over primary keys. */
  readonly by: 'entry' | 'key';
  readonly lower: Key;
  readonly upper: Key;
  readonly reverse: boolean;
  readonly limit: number;
  /** Fetch the rows, too. */
  readonly rows: boolean;
  /** The rows are a prefetch: the reader does not depend on them, and limits in bytes count the entries alone. Stores may ignore it. */
  readonly prefetch?: boolean;
}

export interface RowAddress {
  readonly space: Space;
  readonly key: Key;
}

/** The result of a fetch, in the order of the request. */
export interface Found {
  readonly rows: readonly (Row | undefined)[];
  readonly ranges: readonly (readonly Entry[])[];
  /** Present when the limit in bytes ended it early. */
  readonly truncation?: Truncation;
}

/** The part of the request that was not read. */
export interface Truncation {
  /** The first index of `rows` that was not read; none after it was. */
  readonly rows: number;
  /** Indexes of those in `ranges` of which only the first entries were read, or none. */
  readonly ranges: ReadonlySet<number>;
}

/** One snapshot: no later commit is visible. The reads of one call are sent together. */
export interface ReadTx {
  /**
   * Rows and ranges in one go.
   * @param bytesMax of rows about so many bytes are read, and again of ranges, but at least one row and one entry of the first range
   */
  fetch(rows: readonly RowAddress[], ranges: readonly Range[], bytesMax?: number): Promise<Found>;
}

/** Approximate size of a row in memory. */
export function rowBytes(row: Row): number {
  const { entries } = row;
  let bytes = ROW_OVERHEAD_BYTES + row.key.length + row.value.length;
  for (let at = 0; at < entries.length; at += 1) bytes += entries[at]?.length ?? 0;
  return bytes;
}

/** Approximate size of an entry in memory, with its row if that was fetched. */
export const entryBytes = ({ entry, row }: Entry): number =>
  ENTRY_OVERHEAD_BYTES + entry.length + (row ? rowBytes(row) : 0);

/** Approximate size of a range in memory, by its entries. */
export const rangeBytes = (entries: readonly Entry[]): number =>
  entries.reduce((sum, entry) => sum + entryBytes(entry), ENTRY_OVERHEAD_BYTES);

export const ROW_OVERHEAD_BYTES = 100;
export const ENTRY_OVERHEAD_BYTES = 120;

/** The changes of one commit. Each key occurs at most once in a space. */
export interface WriteSet {
  /** `isNew`: nothing may be under that key; otherwise the write rejects with `KeyTaken`. */
  readonly puts: readonly { readonly space: Space; readonly row: Row; readonly isNew?: boolean }[];
  readonly deletes: readonly RowAddress[];
}

export interface WriteTx extends ReadTx {
  /** Queues the writes; they land together when the body resolves, or not at all. Own fetches after it may or may not see them: read through an overlay. */
  apply(writes: WriteSet): void;
}

/** A row under a new key exists already: the write was rolled back. */
export class KeyTaken extends Error {
  constructor(options?: ErrorOptions) {
    super('A row to be inserted already exists.', options);
  }
}

export type Durability = 'strict' | 'relaxed';

export interface ReadOptions {
  /**
   * All the transaction may touch; when absent, at least the spaces of query transactions. A store may refuse one of these together
   * with log or files. Writes wait for transactions that touch the same.
   */
  readonly spaces?: readonly Space[];
}
export interface SnapshotOptions extends ReadOptions {
  /**
   * Any committed snapshot will do that is no older than what this store has read or written so far: the newest that it has without
   * asking whether others have committed. Stores may ignore it.
   */
  readonly allowsStale?: boolean;
}
export interface WriteOptions extends ReadOptions {
  readonly durability: Durability;
}

export interface Store {
  /**
   * `body` awaits nothing but `tx`; it may be run again, with a new `tx`, when the connection to the data was lost, or when what
   * it had fetched changed before it fetched more.
   */
  read<T>(body: (tx: ReadTx) => Promise<T>, options?: SnapshotOptions): Promise<T>;
  /**
   * Serializable against every other `write` on the same data, in other tabs and processes too. Commits when `body` resolves
   * and resolves when the commit is durable; drops every write when `body` rejects. `body` awaits nothing but `tx`.
   * It may be run again, with a new `tx`, when nothing of the first run was committed.
   */
  write<T>(body: (tx: WriteTx) => Promise<T>, options: WriteOptions): Promise<T>;
  close(): Promise<void>;
}
