/**
 * The evaluator reads through these interfaces, synchronously. A read that is not cached throws `Suspended` with the
 * need; the host fetches it and runs the query again. See docs/decisions/0001-run-again.md.
 */
import type { Key } from '../codec/key.ts';
import type { Entry, Range, Row, RowAddress, TrackedSpace } from './port.ts';

/** A read or an answer of the host that a query needs before it can continue. */
export type Need =
  | { readonly kind: 'row'; readonly address: RowAddress }
  | { readonly kind: 'range'; readonly range: Range }
  /**
   * Slow work outside of all transactions: whether `password` matches `hash`. `hash` undefined: no such user; it
   * takes the same time.
   */
  | {
      readonly kind: 'verify';
      readonly password: string;
      readonly hash: string | undefined;
      readonly attempt: PasswordAttempt;
    }
  | { readonly kind: 'hash'; readonly password: string }
  /** Whether a token is signed by one of the keys published at `jwksUri`. */
  | { readonly kind: 'signature'; readonly token: string; readonly jwksUri: string };

/** Whose password is tried, for the limit on attempts. Each text is compared only with others of its kind. */
export interface PasswordAttempt {
  /** The user as the query denotes it. */
  readonly target: string;
  /** The user it denotes; a text of its own for users that do not exist. */
  readonly account: string;
  /** The network address of the request, if the host knows it. */
  readonly address: string | undefined;
}

/** Thrown, and collected by code that can continue without the answer (array members, `let`, `map`). Not an `Error`: it is no failure. */
export class Suspended {
  readonly needs: readonly Need[];
  constructor(needs: readonly Need[]) {
    this.needs = needs;
  }
}

export interface Reader {
  /** The row, or undefined when there is none. @throws Suspended */
  row(address: RowAddress): Row | undefined;
  /** Up to `range.limit` entries; fewer only when the range holds no more. @throws Suspended */
  range(range: Range): readonly Entry[];
  /**
   * For rows that are hardly ever there (under a new id, behind a unique value): when the row is not cached, assumes that
   * it is absent. The transaction validates that before it commits.
   */
  rowAssumedAbsent(address: RowAddress): Row | undefined;
  /** The same for ranges that are hardly ever anything but empty. */
  rangeAssumedEmpty(range: Range): readonly Entry[];
}

/** Writes of the running query over a `Reader`: reads see them at once. */
export interface Writer extends Reader {
  /** The row before this query. A query makes at most one version of a document, which is compared with this row. */
  readonly base: Reader;
  /** Approximate size of the writes. */
  readonly bytes: number;
  put(space: TrackedSpace, row: Row): void;
  delete(space: TrackedSpace, key: Key): void;
  /** Discards a row that this query put under a key that no other query can have written. */
  discard(space: TrackedSpace, key: Key): void;
}
