/**
 * The storage that the packed store needs: a numbered log and blocks with ids. Each call is one transaction, all or
 * nothing; other tabs may do anything between two calls. A call that fails throws and has changed nothing, unless it is
 * documented otherwise.
 */
import type { Durability } from '../store/port.ts';
import type { IdRange } from './manifest.ts';

export interface LogPart {
  readonly number: number;
  /** Undefined: the part is void, because its append failed. The number remains used. */
  readonly bytes: Uint8Array | undefined;
}

export interface StoredBlock {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** Ids to read, in ascending order. `limit`: at most this many blocks. */
export interface BlockRange extends IdRange {
  readonly limit?: number;
}

export interface MediumSnapshot {
  /** In ascending order of numbers. */
  readonly log: readonly LogPart[];
  /** For each range the blocks that exist, in ascending order of ids. */
  readonly blocks: readonly (readonly StoredBlock[])[];
}

export interface Medium {
  /** @param after log parts behind this number are read; if undefined, none are */
  read(after: number | undefined, blocks: readonly BlockRange[]): Promise<MediumSnapshot>;
  /**
   * Appends parts to the log with consecutive numbers, starting above the greatest number ever used. The first number
   * is 1.
   * @param expected the number that the first part must get
   * @returns false if the next number was another one. Then nothing was added, or the added parts are void
   */
  append(parts: readonly Uint8Array[], expected: number, durability: Durability): Promise<boolean>;
  /**
   * Reads the log and appends what `make` makes of it, in one transaction, so that no other append comes in between.
   * @param after log parts behind this number are passed to `make`
   * @param make may await calls of this medium, but nothing else. After such a call the transaction may be over. If
   * `make` returns undefined, nothing is added
   * @returns the number of the first part; undefined if nothing was added
   */
  appendAfter(
    after: number,
    make: (log: readonly LogPart[]) => Promise<readonly Uint8Array[] | undefined>,
    durability: Durability,
  ): Promise<number | undefined>;
  /** Stores blocks, ordered before everything that is requested later: a flip is never stored without its blocks. */
  putBlocks(blocks: readonly StoredBlock[]): Promise<void>;
  /** Deletes these blocks, and the parts of the log up to a number. Their numbers are never reused. */
  trim(logThrough: number, blocks: readonly IdRange[]): Promise<void>;
  close(): Promise<void>;
}
