/**
 * Parses a long query in time slices, so that other work can run in between. A slice ends by throwing `SLICE_OVER`. The
 * next slice starts at the root again and reuses the results of complete parts. It reaches the point where the previous
 * slice stopped, because parts are parsed in the same order each time.
 */
import { QueryFailure } from '../errors.ts';

/** Thrown at the end of a slice. */
export const SLICE_OVER = Symbol('slice over');

interface Done {
  readonly json: object;
  /** The result of parsing the part, or the `QueryFailure` that it threw. */
  readonly result: unknown;
}

export class TimeSlices {
  /** Number of parts that this slice may still start. */
  private left = 0;
  /** Complete parts inside parts that are not complete, in the order of parsing. */
  private readonly done: Done[] = [];
  /** Number of those that this slice has passed. */
  private passed = 0;
  private readonly kept = new Map<object, unknown>();

  /**
   * Starts a slice. `parts` must be at least the maximum nesting of a query. Otherwise a slice might get no further
   * than the one before.
   */
  begin(parts: number): void {
    this.left = parts;
    this.passed = 0;
  }

  /** Returns the result of `read` for `json`, from this slice or from an earlier one. */
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

  /** Applies `read` to each item. The next slice continues behind the last complete item. */
  items<I, T>(list: readonly I[], read: (item: I, index: number) => T): readonly T[] {
    const results = this.keep(list, (): T[] => []);
    while (results.length < list.length) {
      const before = this.passed;
      results.push(read(list[results.length] as I, results.length));
      this.forgetFrom(before);
    }
    return results;
  }

  /** State that is kept while `json` is parsed, over all time slices. */
  keep<T>(json: object, make: () => T): T {
    const kept = this.kept.get(json) ?? make();
    this.kept.set(json, kept);
    return kept as T;
  }

  /** Records a complete part. The results of its own parts are no longer needed. */
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
