/**
 * What the packed store stands on: a numbered log and blocks. Each call is one transaction: whole, or not at all; between two of
 * them other tabs may do anything. A call that fails throws, and has done nothing unless it says that it may have.
 */
import type { Durability } from '../store/port.ts';
import type { IdRange } from './manifest.ts';

export interface LogPart {
  readonly number: number;
  /** Undefined: nothing counts that was appended under this number. */
  readonly bytes: Uint8Array | undefined;
}

export interface StoredBlock {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** Ids to read, ascending; `limit`: at most so many of them. */
export interface BlockRange extends IdRange {
  readonly limit?: number;
}

export interface MediumSnapshot {
  /** Ascending. */
  readonly log: readonly LogPart[];
  /** Of each range those that are there, ascending. */
  readonly blocks: readonly (readonly StoredBlock[])[];
}

export interface Trim {
  /** Parts of the log up to this number are deleted. Their numbers are not given again. */
  readonly logThrough: number;
  readonly blocks: readonly IdRange[];
}

export interface Medium {
  /** @param after the log behind this number is read; undefined: none of it */
  read(after: number | undefined, blocks: readonly BlockRange[]): Promise<MediumSnapshot>;
  /**
   * Adds parts at the end of the log. Their numbers follow each other, and the greatest that ever was; the first is 1.
   * @param expected what the first part's number must be
   * @returns false: it was another. Nothing was added, or what was is there without its bytes
   */
  append(parts: readonly Uint8Array[], expected: number, durability: Durability): Promise<boolean>;
  /**
   * Adds what is made of the log as it is then, in one transaction with the read of it: nobody else appends in between.
   * @param after the log behind this number is given to `make`
   * @param make may await this medium only; if it does, the transaction may be over when it is done. Undefined: nothing is added
   * @returns the number of the first part; undefined: nothing was added
   */
  appendAfter(
    after: number,
    make: (log: readonly LogPart[]) => Promise<readonly Uint8Array[] | undefined>,
    durability: Durability,
  ): Promise<number | undefined>;
  /** Resolves when they are stored before anything that is asked for later. */
  putBlocks(blocks: readonly StoredBlock[]): Promise<void>;
  trim(trim: Trim): Promise<void>;
  close(): Promise<void>;
}
