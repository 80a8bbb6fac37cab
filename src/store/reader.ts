/**
 * The interfaces through which the evaluator reads, synchronously. A read that is not cached throws `Suspended` with the need; the host
 * fetches it and runs the query again. See docs/decisions/0001-run-again.md.
 */
import type { Key } from '../codec/key.ts';
import type { Entry, Range, Row, RowAddress, TrackedSpace } from './port.ts';

/** A read, or an answer of the host, that a query needs before it can continue. */
export type Need =
  | { readonly kind: 'row'; readonly address: RowAddress }
  | { readonly kind: 'range'; readonly range: Range }
  /**
   * Slow work outside of all transactions: whether `password` matches `hash`. `hash` is undefined if there is no such user; the check
   * then takes the same time, so that callers cannot tell the difference.
   */
  | {
      readonly kind: 'verify';
      readonly password: string;
      readonly hash: string | undefined;
      readonly attempt: PasswordAttempt;
    }
  | { readonly kind: 'hash'; readonly password: string }
  /** Whether a token was signed with one of the keys that are published at `jwksUri`. */
  | { readonly kind: 'signature'; readonly token: string; readonly jwksUri: string };

/** Identifies whose password is checked, for the limit on attempts. Each text is compared only with texts of the same field. */
export interface PasswordAttempt {
  /** The user as the query names it. */
  readonly target: string;
  /** The user that this is. Users that do not exist have a text, too. */
  readonly account: string;
  /** The network address of the request, if the host knows it. */
  readonly address: string | undefined;
}

/** Thrown by reads that are not cached; caught where evaluation can continue (array elements, `let`, `map`). No failure, so no `Error`. */
export class Suspended {
  readonly needs: readonly Need[];
  constructor(needs: readonly Need[]) {
    this.needs = needs;
  }
}

export interface Reader {
  /**
   * The row, or undefined if there is none.
   * @param assumed for rows that almost never exist (with a new id, or of a unique value): if the row is not cached, it is assumed absent.
   * The transaction validates the assumption before it commits
   * @throws Suspended unless `assumed`
   */
  row(address: RowAddress, assumed?: 'absent'): Row | undefined;
  /**
   * Up to `range.limit` entries; fewer only if the range contains no more.
   * @param assumed the same for ranges that are almost always empty
   * @throws Suspended unless `assumed`
   */
  range(range: Range, assumed?: 'empty'): readonly Entry[];
}

/** A `Reader` with the writes of the running query, which later reads of the query see. */
export interface Writer extends Reader {
  /** The reader below the writes: rows as they were before this query. A query makes at most one version of a document. */
  readonly base: Reader;
  /** Approximate size of the writes. */
  readonly bytes: number;
  put(space: TrackedSpace, row: Row): void;
  delete(space: TrackedSpace, key: Key): void;
  /** Discards a row that this query put. Allowed only for a key that no other query can have written. */
  discard(space: TrackedSpace, key: Key): void;
}
