/**
 * Sets are read by pulling batches of growing size, forwards or backwards, between bounds. No state is kept between
 * executions of a query; any pull may throw `Suspended`.
 */
import type { Micros, Ref, SetValue, Value } from '../../values/value.ts';
import type { Bound, Tuple } from './tuple.ts';

export type SetTarget = SetValue | Ref;

export interface SetRequest {
  /** Valid time to read at; undefined: the present. */
  readonly past: Micros | undefined;
  /** Pull from the end of the set. Bounds stay in the order of the set. */
  readonly backward: boolean;
  /** Only tuples after all of these… */
  readonly lower: readonly Bound[];
  /** …and before all of these. */
  readonly upper: readonly Bound[];
  /** Size of the first batch; later ones grow. */
  readonly first: number;
  /** The documents are likely to be read next: fetch their rows, too. */
  readonly rows: boolean;
  /** Record the sources of each tuple. */
  readonly sources: boolean;
  /** Check for each tuple whether the caller may read its document. */
  readonly filtered: boolean;
  /** Units of work that the sets made of this one do for each of its tuples: they are charged where it is read. */
  readonly tupleWork: number;
}

/** A set made of others looks at each of their tuples, compares it, and puts it among others. */
export const MEMBER_WORK = 4_000;

export interface SetCursor<T = Tuple> {
  /** The next tuples in reading direction; empty only at the end. @throws Suspended */
  pull(): readonly T[];
  /** Tuples that would be read before the bound are no longer needed; they may still be returned. */
  narrow(bound: Bound): void;
}

/** A permission check on a document is likely to read it, so its row is fetched, too. */
export const withRows = (request: SetRequest): SetRequest => ({ ...request, rows: true });

/** The source of the tuples of a set; none unless they are recorded. */
export const sourcesOf = (
  set: SetTarget,
  { sources }: Pick<SetRequest, 'sources'>,
): readonly Value[] => (sources ? [set] : []);

export const EMPTY_CURSOR: SetCursor = { pull: () => [], narrow: () => undefined };

const GROWTH = 8;
const BATCH_MIN = 64;
const BATCH_MAX = 131_072;

/** Size of the batch after one of `size`: few round trips for long reads, little waste for short ones. */
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
      // While the next one is waited for there is none: it is not asked for again.
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

  /** How many tuples are read next, about, if that is soon: most of this batch is taken. */
  get sizeAhead(): number {
    return this.at * 2 < this.batch.length ? 0 : this.batch.length * GROWTH;
  }

  /** Asks for them, while something else is waited for: the rest of this batch is lost. @throws Suspended */
  readAhead(): void {
    if (this.sizeAhead === 0) return;
    this.at = this.batch.length;
    this.peek();
  }

  advance(): void {
    this.at++;
  }

  /** All tuples of the group of the next tuple, in reading order. */
  takeRun(): T[] {
    const run: T[] = [];
    const group = this.peek()?.group;
    for (let each = this.peek(); each && each.group === group; each = this.peek()) {
      run.push(each);
      this.advance();
    }
    return run;
  }

  /** Moves to the first tuple whose group is not read before that of `target`. */
  skipTo(target: Tuple, backward: boolean): void {
    const isThere = backward
      ? (each: Tuple) => each.group <= target.group
      : (each: Tuple) => each.group >= target.group;
    this.skip(isThere, groupBound(target, backward ? 'high' : 'low'));
  }

  /** Reading forwards, moves to the first tuple after the group of `target`. */
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
