/**
 * Derived sets work on runs: all tuples with the same covered values. The result of a run depends on all its tuples. So exact bounds are
 * widened to whole runs for the members, and applied again to the result. Spec: sets 4, 5.3.
 */
import { equalValues } from '../../values/equal.ts';
import type { Value } from '../../values/value.ts';
import {
  directionsOf,
  isBeforeBound,
  orderBound,
  withSources,
  type Bound,
  type OrderedBound,
  type Tuple,
} from './tuple.ts';
import { MEMBER_WORK, type SetCursor, type SetRequest } from './set-cursor.ts';

/** The request for the members: no bound divides a run, and the first batch reaches the end of the last run. */
export const wholeRuns = (request: SetRequest): SetRequest => ({
  ...request,
  first: request.first + 1,
  tupleWork: request.tupleWork + MEMBER_WORK,
  lower: request.lower.map((bound) => widen(bound, 'low')),
  upper: request.upper.map((bound) => widen(bound, 'high')),
});

const widen = (bound: Bound, side: Bound['side']): Bound =>
  bound.ref ? { values: bound.values, ref: undefined, side } : bound;

/**
 * Returns a test for tuples within the bounds of a request.
 * @param reversed directions from the shape of the set. Empty: only the tuples show them
 */
export function within(
  { lower, upper }: Pick<SetRequest, 'lower' | 'upper'>,
  reversed: readonly boolean[],
): (tuple: Tuple) => boolean {
  const accepts = (directions: readonly boolean[]): ((tuple: Tuple) => boolean) => {
    const order = (bound: Bound): OrderedBound => orderBound(bound, directions);
    const lows = lower.map(order);
    const highs = upper.map(order);
    return (tuple) =>
      lows.every((bound) => !isBeforeBound(tuple, bound)) &&
      highs.every((bound) => isBeforeBound(tuple, bound));
  };
  const isKnown = reversed.length > 0 || lower.length + upper.length === 0;
  return isKnown ? accepts(reversed) : (tuple) => accepts(directionsOf(tuple))(tuple);
}

/**
 * A cursor over runs that applies the bounds of the request. `next` returns the tuples of the next run in reading order, and undefined at
 * the end.
 */
export function runCursor(
  request: SetRequest,
  reversed: readonly boolean[],
  next: () => readonly Tuple[] | undefined,
  narrow: SetCursor['narrow'],
): SetCursor {
  const accepts = within(request, reversed);
  return {
    pull() {
      for (let run = next(); run; run = next()) {
        const inside = run.filter(accepts);
        if (inside.length > 0) return inside;
      }
      return [];
    },
    narrow(bound) {
      narrow(widen(bound, request.backward ? 'high' : 'low'));
    },
  };
}

/** The best run: the longest or the shortest, as `isBetter` decides. The first of several equal ones. */
export function pickRun(
  runs: readonly (readonly Tuple[])[],
  isBetter: (length: number, best: number) => boolean,
  request: Pick<SetRequest, 'backward' | 'sources'>,
): readonly Tuple[] {
  let best = runs[0] ?? [];
  for (const run of runs) if (isBetter(run.length, best.length)) best = run;
  if (!request.sources) return best;
  return best.map((tuple, i) => {
    const path = request.backward ? best.length - 1 - i : i;
    const pairs = runs.map((run) => run[request.backward ? run.length - 1 - path : path]);
    return withSources(tuple, joinSources(pairs.flatMap((pair) => pair?.sources ?? [])));
  });
}

/** Removes duplicate sources and keeps their order. */
export function joinSources(sources: readonly Value[]): Value[] {
  const joined: Value[] = [];
  for (const source of sources) {
    if (!joined.some((each) => equalValues(each, source))) joined.push(source);
  }
  return joined;
}
