/** Options of an adoption, and its progress. */
import type { Ref } from '../index.ts';

/** A document of the database that is adopted. */
export interface LocalDocument {
  readonly ref: Ref;
  readonly data: Readonly<Record<string, unknown>>;
  /** Time of the last write, µs. */
  readonly ts: number;
}

/**
 * What becomes of a document:
 * - `undefined`: it stays here;
 * - `{ is }`: it is not written, for the hub has it, under this ref, such as the user who has logged in;
 * - otherwise it is created at the hub, under its ref and with its data, unless others are given.
 *
 * Refs in data of all documents follow.
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
  /** Documents so far. */
  readonly done: number;
  /** Undefined while they are read. */
  readonly total: number | undefined;
}

export interface AdoptOptions {
  /** Names of the collections whose documents are copied; all, when left out. */
  readonly collections?: readonly string[];
  readonly map?: (document: LocalDocument) => Adopted;
  /** What lists of writes show of a document; `notes 7` when left out. */
  readonly label?: (document: LocalDocument) => string;
  readonly onProgress?: (progress: AdoptProgress) => void;
  /** Stops it between two documents. To go on, call `adopt()` again. */
  readonly signal?: AbortSignal;
}
