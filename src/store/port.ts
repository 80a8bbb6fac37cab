/**
 * The store port: six spaces of rows with ordered keys. Rows of two of the spaces have index entries. All calls are batched.
 * Adapters: memory (`memory.ts`), IndexedDB (`worker/store/`), PostgreSQL (`hub/store/`).
 */
import type { Key } from '../codec/key.ts';
import { assert } from '../errors.ts';

/**
 * - `documents`: current versions of documents, schema objects, keys and tokens, with their index entries.
 * - `history`: superseded versions and delete markers, with the index entries that ended with the version.
 * - `sync`: the state of sync: on a device, its outbox, verdicts and cursor; at a hub, devices, verdicts and the log of changes.
 * - `meta`: the head (last commit), format version, birth marker, fences.
 * - `log`: records of the query log, ordered by time.
 * - `files`: finished exports and their requests.
 */
export const SPACES = ['documents', 'history', 'sync', 'meta', 'log', 'files'] as const;
export type Space = (typeof SPACES)[number];
/**
 * The spaces of query transactions. `log` and `files` have transactions of their own, so that queries and the log do not wait for
 * each other.
 */
export const HOT_SPACES = [
  'documents',
  'history',
  'sync',
  'meta',
] as const satisfies readonly Space[];
/** Asserts that the spaces of a transaction include this one. */
export function requireWithin(spaces: readonly Space[], space: Space): void {
  assert(
    spaces.includes(space),
    () => `this transaction covers ${spaces.join(', ')}, not ${space}`,
  );
}
/** Spaces whose rows have index entries. */
export type EntrySpace = 'documents' | 'history';
export const isEntrySpace = (space: Space): space is EntrySpace =>
  space === 'documents' || space === 'history';
/** Spaces that transactions of the engine write. Each commit reports its changes in these spaces. */
export const TRACKED_SPACES = ['documents', 'history', 'sync'] as const satisfies readonly Space[];
export type TrackedSpace = (typeof TRACKED_SPACES)[number];
export const isTrackedSpace = (space: Space): space is TrackedSpace =>
  isEntrySpace(space) || space === 'sync';

export interface Row {
  readonly key: Key;
  /** The index entries of the row: distinct, and empty in spaces without index entries. */
  readonly entries: readonly Key[];
  /** Opaque to the store: text, or bytes for files. */
  readonly value: string | Uint8Array;
}

/** A result of a range read. `entry === key` if the range was over primary keys. */
export interface Entry {
  readonly entry: Key;
  /** Primary key of the row that the entry belongs to. */
  readonly key: Key;
  /** Present if the range asked for rows. */
  readonly row: Row | undefined;
}

/** The key range `[lower, upper)`: at most `limit` results, ascending, or descending from `upper` if `reverse`. */
export interface Range {
  readonly space: Space;
  /** Whether the bounds are index entries or primary keys. */
  readonly by: 'entry' | 'key';
  readonly lower: Key;
  readonly upper: Key;
  readonly reverse: boolean;
  readonly limit: number;
  /** Whether to fetch the rows, too. */
  readonly rows: boolean;
  /** The rows are only a prefetch: the reader works without them, and limits in bytes count only the entries. Stores may ignore it. */
  readonly prefetch?: boolean;
}

export interface RowAddress {
  readonly space: Space;
  readonly key: Key;
}

/** The result of a fetch, in the order of its arguments. */
export interface Found {
  readonly rows: readonly (Row | undefined)[];
  readonly ranges: readonly (readonly Entry[])[];
  /** Present if the limit in bytes ended the fetch early. */
  readonly truncation?: Truncation;
}

/** Which part of a fetch was not read. */
export interface Truncation {
  /** The first index of `rows` that was not read. No later row was read either. */
  readonly rows: number;
  /** Indexes of the `ranges` of which only the first entries were read, or none. */
  readonly ranges: ReadonlySet<number>;
}

/** Reads one snapshot: no later commit is visible. The reads of one call are sent to the database together. */
export interface ReadTx {
  /** Whether the body may now wait for other things than `fetch()`: nobody waits for what the transaction holds. Default: false. */
  readonly canWait?: boolean;
  /**
   * Reads rows and ranges in one request.
   * @param bytesMax about this many bytes of rows are read, and as many of ranges, but at least one row and the first entry of a range
   */
  fetch(rows: readonly RowAddress[], ranges: readonly Range[], bytesMax?: number): Promise<Found>;
}

/** Approximate size of a row in memory, in bytes. */
export function rowBytes(row: Row): number {
  const { entries } = row;
  let bytes = ROW_OVERHEAD_BYTES + row.key.length + row.value.length;
  for (let at = 0; at < entries.length; at += 1) bytes += entries[at]?.length ?? 0;
  return bytes;
}

/** Approximate size of an entry in memory, in bytes, with its row if that was fetched. */
export const entryBytes = ({ entry, row }: Entry): number =>
  ENTRY_OVERHEAD_BYTES + entry.length + (row ? rowBytes(row) : 0);

/** Approximate size of the entries of a range in memory, in bytes. */
export const rangeBytes = (entries: readonly Entry[]): number =>
  ENTRY_OVERHEAD_BYTES + entriesBytes(entries);

export const entriesBytes = (entries: readonly Entry[]): number =>
  entries.reduce((sum, entry) => sum + entryBytes(entry), 0);

export const ROW_OVERHEAD_BYTES = 100;
export const ENTRY_OVERHEAD_BYTES = 120;

/** The changes of one commit. Each key occurs at most once in a space. */
export interface WriteSet {
  /** `isNew`: no row may exist under the key; otherwise the transaction rejects with `KeyTaken`. */
  readonly puts: readonly { readonly space: Space; readonly row: Row; readonly isNew?: boolean }[];
  readonly deletes: readonly RowAddress[];
}

export const NO_WRITES: WriteSet = { puts: [], deletes: [] };

export interface WriteTx extends ReadTx {
  /** Queues writes, which commit together when the body resolves, or not at all. Later fetches may or may not see them: use an overlay. */
  apply(writes: WriteSet): void;
}

/** A row with `isNew` has a key that exists already. The transaction was rolled back. */
export class KeyTaken extends Error {
  constructor(options?: ErrorOptions) {
    super('A row to be inserted already exists.', options);
  }
}

export type Durability = 'strict' | 'relaxed';

export interface ReadOptions {
  /**
   * All spaces that the transaction may read or write. If absent, at least the spaces of query transactions. A store may reject these
   * together with `log` or `files`. Writes wait for transactions with common spaces.
   */
  readonly spaces?: readonly Space[];
}
export interface SnapshotOptions extends ReadOptions {
  /**
   * The snapshot may be stale, but not older than what this store has read or written so far: the store takes the newest snapshot that
   * it has, without checking for commits of other tabs or processes. Stores may ignore this.
   */
  readonly allowsStale?: boolean;
}
export interface WriteOptions extends ReadOptions {
  readonly durability: Durability;
}

export interface Store {
  /**
   * Runs `body` with one snapshot. `body` must await nothing except calls of `tx`. It may run again with a new `tx` if the connection to
   * the database was lost, or if something that it fetched changed before its next fetch.
   */
  read<T>(body: (tx: ReadTx) => Promise<T>, options?: SnapshotOptions): Promise<T>;
  /**
   * Runs `body` and commits its writes. Serializable with every other `write` on the same data, also from other tabs and processes.
   * Commits when `body` resolves, and resolves when the commit is durable; discards all writes when `body` rejects. `body` must await
   * nothing except calls of `tx`. It may run again with a new `tx`, but only if nothing of the first run was committed.
   */
  write<T>(body: (tx: WriteTx) => Promise<T>, options: WriteOptions): Promise<T>;
  close(): Promise<void>;
}
