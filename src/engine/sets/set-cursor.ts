/**
 * How sets are read: pulled in batches that grow, forwards or backwards, between cuts. Nothing is kept between runs of a
 * query; any pull may throw `Suspended`.
 */
import type { Micros, Ref, SetValue } from '../../values/value.ts';
import type { Cut, Tuple } from './tuple.ts';

export type SetTarget = SetValue | Ref;

export interface SetRequest {
  /** Valid time to read at; undefined: the present. */
  readonly past: Micros | undefined;
  /** Pull from the end of the set. Cuts stay in the order of the set. */
  readonly backward: boolean;
  /** Only tuples after all of these… */
  readonly lower: readonly Cut[];
  /** …and before all of these. */
  readonly upper: readonly Cut[];
  /** Size of the first batch; later ones grow. */
  readonly first: number;
  /** Documents will be read next: bring their rows along. */
  readonly rows: boolean;
  /** Tell where each tuple comes from. */
  readonly sources: boolean;
  /** Ask for each tuple whether the caller may read its document. */
  readonly filtered: boolean;
}

export interface SetCursor<T = Tuple> {
  /** The next tuples in reading direction; empty only at the end. @throws Suspended */
  pull(): readonly T[];
  /** Tuples that would be read before the cut are not wanted any more; they may come all the same. */
  narrow(cut: Cut): void;
}

/** Opens a member of a set. Faults of what cannot be read are thrown here or by the first pull. */
export type OpenSet = (target: SetTarget, request: SetRequest) => SetCursor;

export const NOTHING: SetCursor = { pull: () => [], narrow: () => undefined };

const GROWTH = 8;
const BATCH_MIN = 64;
const BATCH_MAX = 131_072;

/** Size of the batch after one of `size`: few round trips for long reads, little waste for short ones. */
export const grown = (size: number): number =>
  Math.min(Math.max(BATCH_MIN, size * GROWTH), BATCH_MAX);

/** The batch after a skip: what was read before it was partly for nothing. */
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

/** Reads a cursor tuple by tuple. */
export class Head<T extends Tuple = Tuple> {
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
      this.batch = this.cursor.pull();
      this.at = 0;
      if (this.batch.length === 0) this.ended = true;
    }
    return this.batch[this.at];
  }

  /** Whether `peek` has to pull. */
  get mustRead(): boolean {
    return !this.ended && this.at >= this.batch.length;
  }

  advance(): void {
    this.at++;
  }

  /** All tuples of the group at hand, in reading order. */
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
    this.skip(isThere, groupCut(target, backward ? 'high' : 'low'));
  }

  /** Moves to the first tuple whose group is read after that of `target`. */
  skipPast(target: Tuple, backward: boolean): void {
    const isThere = backward
      ? (each: Tuple) => each.group < target.group
      : (each: Tuple) => each.group > target.group;
    this.skip(isThere, groupCut(target, backward ? 'low' : 'high'));
  }

  private skip(isThere: (each: Tuple) => boolean, cut: Cut): void {
    for (;;) {
      for (; this.at < this.batch.length; this.at++) {
        const each = this.batch[this.at];
        if (each && isThere(each)) return;
      }
      if (this.ended) return;
      this.cursor.narrow(cut);
      if (!this.peek()) return;
    }
  }
}

const groupCut = ({ values, ref }: Tuple, side: Cut['side']): Cut => ({
  values: values ?? [ref],
  ref: undefined,
  side,
});
