/**
 * Cursors over sets. They are read by pulling batches of growing size, forwards or backwards, between bounds. No state is kept between
 * executions of a query. Any pull may throw `Suspended`.
 */
import type { Micros, Ref, SetValue, Value } from '../../values/value.ts';
import type { Bound, Tuple } from './tuple.ts';

export type SetTarget = SetValue | Ref;

export interface SetRequest {
  /** Valid time to read at. Undefined: the present. */
  readonly past: Micros | undefined;
  /** Read from the end of the set. Bounds keep the order of the set. */
  readonly backward: boolean;
  /** Only tuples after all of these… */
  readonly lower: readonly Bound[];
  /** …and before all of these. */
  readonly upper: readonly Bound[];
  /** Size of the first batch. Later batches are larger. */
  readonly first: number;
  /** The documents will probably be read next, so their rows are fetched too. */
  readonly rows: boolean;
  /** Record for each tuple which sets it comes from. */
  readonly sources: boolean;
  /** Check for each tuple whether the caller may read its document. */
  readonly filtered: boolean;
  /** Units of work that enclosing sets do for each tuple of this set. They are charged where the tuple is read. */
  readonly tupleWork: number;
}

/** Units of work for each tuple of a member: an enclosing set reads it, compares it and orders it. */
export const MEMBER_WORK = 4_000;

export interface SetCursor<T = Tuple> {
  /** The next tuples in reading direction. Empty only at the end. @throws Suspended */
  pull(): readonly T[];
  /** Tells the cursor that tuples which are read before the bound are not needed. It may still return them. */
  narrow(bound: Bound): void;
}

/** A permission check on a document is likely to read it, so its row is fetched, too. */
export const withRows = (request: SetRequest): SetRequest => ({ ...request, rows: true });

/** The source of the tuples of a set. Empty unless sources are recorded. */
export const sourcesOf = (
  set: SetTarget,
  { sources }: Pick<SetRequest, 'sources'>,
): readonly Value[] => (sources ? [set] : []);

export const EMPTY_CURSOR: SetCursor = { pull: () => [], narrow: () => undefined };

const GROWTH = 8;
const BATCH_MIN = 64;
const BATCH_MAX = 131_072;

/** Size of the batch after one of `size`: few round trips for long reads, little waste for short reads. */
export const grown = (size: number): number =>
  Math.min(Math.max(BATCH_MIN, size * GROWTH), BATCH_MAX);

/** Size of the batch after a skip: part of the previous batch was not needed. */
export const grownAfterSkip = (size: number): number =>
  Math.min(Math.max(BATCH_MIN, size * 2), BATCH_MAX);

/** Up to `wanted` tuples. */
export function takeTuples(cursor: SetCursor, wanted: number): Tuple[] {
  let taken: Tuple[] = [];
  while (taken.length < wanted) {
    const batch = cursor.pull();
    if (batch.length === 0) break;
    if (taken.length === 0) taken = batch.slice(0, wanted);
    else for (const tuple of batch) if (taken.length < wanted) taken.push(tuple);
  }
  return taken;
}

/** Reads a cursor tuple by tuple, with one tuple of lookahead. */
export class PeekableCursor<T extends Tuple = Tuple> {
  private readonly cursor: SetCursor<T>;
  private batch: readonly T[] = [];
  private at = 0;
  private ended = false;

  constructor(cursor: SetCursor<T>) {
    this.cursor = cursor;
  }

  peek(): T | undefined {
    while (this.at >= this.batch.length) {
      if (this.ended) return undefined;
      // Cleared first: if `pull` throws, `readAhead` must not request the batch again.
      this.batch = [];
      this.at = 0;
      this.batch = this.cursor.pull();
      if (this.batch.length === 0) this.ended = true;
    }
    return this.batch[this.at];
  }

  /** Whether `peek` has to pull. */
  get mustRead(): boolean {
    return !this.ended && this.at >= this.batch.length;
  }

  /** Approximate size of the next batch if it is needed soon, because at least half of the current batch has been taken. Otherwise 0. */
  get sizeAhead(): number {
    return this.at * 2 < this.batch.length ? 0 : this.batch.length * GROWTH;
  }

  /**
   * Requests the next batch while the query has to wait for another read anyway. Discards the rest of the current batch, because this
   * execution ends.
   * @throws Suspended
   */
  readAhead(): void {
    if (this.sizeAhead === 0) return;
    this.at = this.batch.length;
    this.peek();
  }

  advance(): void {
    this.at++;
  }

  /** Takes all tuples of the group of the next tuple, in reading order. */
  takeRun(): T[] {
    const run: T[] = [];
    const group = this.peek()?.group;
    for (let each = this.peek(); each && each.group === group; each = this.peek()) {
      run.push(each);
      this.advance();
    }
    return run;
  }

  /** Moves to the first tuple whose group is, in reading order, not before that of `target`. */
  skipTo(target: Tuple, backward: boolean): void {
    const isThere = backward
      ? (each: Tuple) => each.group <= target.group
      : (each: Tuple) => each.group >= target.group;
    this.skip(isThere, groupBound(target, backward ? 'high' : 'low'));
  }

  /** Moves to the first tuple after the group of `target`. Only for reading forwards. */
  skipPast(target: Tuple): void {
    this.skip((each) => each.group > target.group, groupBound(target, 'high'));
  }

  private skip(isThere: (each: Tuple) => boolean, bound: Bound): void {
    for (;;) {
      for (; this.at < this.batch.length; this.at++) {
        const each = this.batch[this.at];
        if (each && isThere(each)) return;
      }
      if (this.ended) return;
      this.cursor.narrow(bound);
      if (!this.peek()) return;
    }
  }
}

const groupBound = ({ values, ref }: Tuple, side: Bound['side']): Bound => ({
  values: values ?? [ref],
  ref: undefined,
  side,
});
