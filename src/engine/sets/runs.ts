/**
 * Derived sets work on runs: all tuples with the same covered values. What a run becomes depends on all of it, so exact cuts
 * are widened to whole runs for the members and applied again to what comes out. Spec: sets 4, 5.3.
 */
import { isBeforeCut, orderCut, type Cut, type OrderedCut, type Tuple } from './tuple.ts';
import type { SetCursor, SetRequest } from './set-cursor.ts';

/** The request for members: no cut divides a run, and the end of the last run is seen in the first batch. */
export const wholeRuns = (request: SetRequest): SetRequest => ({
  ...request,
  first: request.first + 1,
  lower: request.lower.map((cut) => widen(cut, 'low')),
  upper: request.upper.map((cut) => widen(cut, 'high')),
});

const widen = (cut: Cut, side: Cut['side']): Cut =>
  cut.ref ? { values: cut.values, ref: undefined, side } : cut;

/** Accepts the tuples of a set that are within the cuts of a request. */
export function within(
  { lower, upper }: Pick<SetRequest, 'lower' | 'upper'>,
  reversed: readonly boolean[],
): (tuple: Tuple) => boolean {
  const order = (cut: Cut): OrderedCut => orderCut(cut, reversed);
  const lows = lower.map(order);
  const highs = upper.map(order);
  return (tuple) =>
    lows.every((cut) => !isBeforeCut(tuple, cut)) && highs.every((cut) => isBeforeCut(tuple, cut));
}

/** A cursor made of runs, cut exactly. `next` gives the tuples of the next run in reading order; undefined: the end. */
export function runCursor(
  request: SetRequest,
  reversed: readonly boolean[],
  next: () => readonly Tuple[] | undefined,
  narrow: SetCursor['narrow'],
): SetCursor {
  const accepts = within(
    {
      lower: request.lower.filter((cut) => cut.ref),
      upper: request.upper.filter((cut) => cut.ref),
    },
    reversed,
  );
  return {
    pull() {
      for (let run = next(); run; run = next()) {
        const inside = run.filter(accepts);
        if (inside.length > 0) return inside;
      }
      return [];
    },
    narrow(cut) {
      narrow(widen(cut, request.backward ? 'high' : 'low'));
    },
  };
}
