/** Options of an adoption, and its progress. */
import type { Ref } from '../index.ts';

/** A document of the local database. */
export interface LocalDocument {
  readonly ref: Ref;
  readonly data: Readonly<Record<string, unknown>>;
  /** Time of the last write, µs. */
  readonly ts: number;
}

/**
 * What `adopt()` does with a document:
 * - `undefined`: it is not copied;
 * - `{ is }`: it is not copied, because the hub already has it under this ref, for instance the user who has logged in;
 * - otherwise it is created at the hub, with its own ref and data unless others are given.
 *
 * Refs to a document in the data of other documents are changed accordingly.
 */
export type Adopted =
  | undefined
  | { readonly is: Ref }
  | {
      readonly is?: undefined;
      readonly ref?: Ref;
      readonly data?: Readonly<Record<string, unknown>>;
    };

export interface AdoptProgress {
  readonly phase: 'reading' | 'checking' | 'writing';
  /** Number of documents so far. */
  readonly done: number;
  /** Undefined while documents are being read. */
  readonly total: number | undefined;
}

export interface AdoptOptions {
  /** Names of the collections whose documents are copied; by default all collections. */
  readonly collections?: readonly string[];
  readonly map?: (document: LocalDocument) => Adopted;
  /** Label of a document's write in lists of writes; by default like `notes 7`. */
  readonly label?: (document: LocalDocument) => string;
  readonly onProgress?: (progress: AdoptProgress) => void;
  /** Stops the adoption between two documents. To continue, call `adopt()` again. */
  readonly signal?: AbortSignal;
}
