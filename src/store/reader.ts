/**
 * What the evaluator reads through: synchronous. A read of something that is not cached throws `Suspended` with what is needed;
 * the host fetches all that and runs the query again. See docs/decisions/0001-run-again.md.
 */
import type { Key } from '../codec/key.ts';
import type { Entry, Range, Row, RowAddress, TrackedSpace } from './port.ts';

/** A read or an answer of the host that a query needs before it can continue. */
export type Need =
  | { readonly kind: 'row'; readonly address: RowAddress }
  | { readonly kind: 'range'; readonly range: Range }
  /** Slow work, done outside every transaction: is `password` the one behind `hash`? `hash` undefined: nobody's, same work. */
  | {
      readonly kind: 'verify';
      readonly password: string;
      readonly hash: string | undefined;
      readonly attempt: PasswordAttempt;
    }
  | { readonly kind: 'hash'; readonly password: string }
  /** Whether a token is signed by one of the keys published at `jwksUri`. */
  | { readonly kind: 'signature'; readonly token: string; readonly jwksUri: string };

/** Whose password is tried, for the limits on that. Both texts are compared only with others of their kind. */
export interface PasswordAttempt {
  /** Who was asked for, as the query put it. */
  readonly target: string;
  /** Who that is; for nobody a text of its own. */
  readonly account: string;
  /** Where the request came from, if the host tells. */
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
  /** What stood before this query: one query makes at most one version of a document, compared with this. */
  readonly base: Reader;
  /** Rough size of what is written. */
  readonly bytes: number;
  put(space: TrackedSpace, row: Row): void;
  delete(space: TrackedSpace, key: Key): void;
  /** Discards what this query put under a key that no other query can have written. */
  discard(space: TrackedSpace, key: Key): void;
}
