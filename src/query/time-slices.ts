/**
 * Parses a long query in time slices, so that others run in between. A slice ends by a throw. The next one begins at the root again and
 * reuses the results of complete parts, so it comes to where the one before it stopped: parts are read in the same order each time.
 */
import { QueryFailure } from '../errors.ts';

/** Thrown where a slice ends. */
export const SLICE_OVER = Symbol('slice over');

interface Done {
  readonly json: object;
  /** A `QueryFailure` is what reading it threw. */
  readonly result: unknown;
}

export class TimeSlices {
  /** Parts that this slice may still begin. */
  private left = 0;
  /** Complete parts of those that are not, in the order of reading. */
  private readonly done: Done[] = [];
  /** How many of them this slice has passed. */
  private passed = 0;
  private readonly kept = new Map<object, unknown>();

  /** At least as many parts as a query can be deep, or no slice comes further than the last. */
  begin(parts: number): void {
    this.left = parts;
    this.passed = 0;
  }

  /** What `read` makes of `json`: in this slice, or in one before. */
  once<T>(json: object, read: () => T): T {
    const next = this.done[this.passed];
    if (next?.json === json) {
      this.passed += 1;
      if (next.result instanceof QueryFailure) throw next.result;
      return next.result as T;
    }
    if (this.left === 0) throw SLICE_OVER;
    this.left -= 1;
    const before = this.passed;
    try {
      const result = read();
      this.complete(before, { json, result });
      return result;
    } catch (thrown) {
      if (thrown instanceof QueryFailure) this.complete(before, { json, result: thrown });
      throw thrown;
    }
  }

  /** What `read` makes of each item. The next slice goes on behind the last one that was complete. */
  items<I, T>(list: readonly I[], read: (item: I, index: number) => T): readonly T[] {
    const results = this.keep(list, (): T[] => []);
    while (results.length < list.length) {
      const before = this.passed;
      results.push(read(list[results.length] as I, results.length));
      this.forgetFrom(before);
    }
    return results;
  }

  /** State that is kept while `json` is read, over all its time slices. */
  keep<T>(json: object, make: () => T): T {
    const kept = this.kept.get(json) ?? make();
    this.kept.set(json, kept);
    return kept as T;
  }

  /** Its parts need not be known any more. */
  private complete(before: number, part: Done): void {
    this.forgetFrom(before);
    this.done.push(part);
    this.passed = before + 1;
    this.kept.delete(part.json);
  }

  private forgetFrom(before: number): void {
    const { done } = this;
    while (done.length > before) done.pop();
    this.passed = before;
  }
}
