/**
 * Union, intersection, difference and distinct of sets. Equal are tuples with equal covered values; a value occurs in the
 * result as often as in the member with most (union) or fewest (intersection) of it. Spec: sets 4.
 */
import { equalValues } from '../../values/equal.ts';
import type { Value } from '../../values/value.ts';
import { eachElement } from '../../query/collect-needs.ts';
import { RunMerge } from './run-merge.ts';
import { runCursor, wholeRuns } from './runs.ts';
import {
  PeekableCursor,
  type OpenSet,
  type SetCursor,
  type SetRequest,
  type SetTarget,
} from './set-cursor.ts';
import { withSources, type Tuple } from './tuple.ts';

export function openUnion(
  sets: readonly SetTarget[],
  reversed: readonly boolean[],
  request: SetRequest,
  open: OpenSet,
): SetCursor {
  const cursors = openMembers(sets, request, open);
  const merge = new RunMerge(cursors, request.backward);
  const next = () => {
    const runs = merge.next();
    return runs && pickRun(runs, (a, b) => a > b, request);
  };
  return runCursor(request, reversed, next, narrowAll(cursors));
}

export function openIntersection(
  sets: readonly SetTarget[],
  reversed: readonly boolean[],
  request: SetRequest,
  open: OpenSet,
): SetCursor {
  const cursors = openMembers(sets, { ...request, rows: false }, open);
  const peekables = cursors.map((cursor) => new PeekableCursor(cursor));
  const next = () => {
    if (!alignAll(peekables, request.backward)) return undefined;
    return pickRun(
      eachElement(peekables, (peekable) => peekable.takeRun()),
      (a, b) => a < b,
      request,
    );
  };
  return runCursor(request, reversed, next, narrowAll(cursors));
}

export function openDifference(
  sets: readonly SetTarget[],
  reversed: readonly boolean[],
  request: SetRequest,
  open: OpenSet,
): SetCursor {
  const cursors = openMembers(sets, { ...request, rows: false }, open);
  const [kept, ...removed] = cursors.map((cursor) => new PeekableCursor(cursor));
  const next = () => {
    if (!kept) return undefined;
    for (let first = kept.peek(); first; first = kept.peek()) {
      const target = first;
      const others = eachElement(removed, (peekable) => {
        peekable.skipTo(target, request.backward);
        return peekable.peek();
      });
      const run = kept.takeRun();
      if (!others.some((other) => other?.group === target.group)) return run;
    }
    return undefined;
  };
  return runCursor(request, reversed, next, narrowAll(cursors.slice(0, 1)));
}

/** The first tuple of each run. */
export function openDistinct(
  set: SetTarget,
  reversed: readonly boolean[],
  request: SetRequest,
  open: OpenSet,
): SetCursor {
  const cursor = open(set, wholeRuns(request));
  const peekable = new PeekableCursor(cursor);
  const next = () => {
    if (request.backward) {
      const run = peekable.takeRun();
      return run.length > 0 ? run.slice(-1) : undefined;
    }
    const first = peekable.peek();
    if (first) peekable.skipPast(first, false);
    return first && [first];
  };
  return runCursor(request, reversed, next, (bound) => cursor.narrow(bound));
}

function openMembers(sets: readonly SetTarget[], request: SetRequest, open: OpenSet): SetCursor[] {
  const whole = wholeRuns(request);
  return eachElement(sets, (set) => open(set, whole));
}

const narrowAll =
  (cursors: readonly SetCursor[]): SetCursor['narrow'] =>
  (bound) => {
    for (const cursor of cursors) cursor.narrow(bound);
  };

/** Moves all cursors to the next group that every one of them has. */
function alignAll(peekables: readonly PeekableCursor[], backward: boolean): boolean {
  for (;;) {
    const tuples = eachElement(peekables, (peekable) => peekable.peek());
    let target = tuples[0];
    for (const tuple of tuples) {
      if (!tuple || !target) return false;
      if (backward ? tuple.group < target.group : tuple.group > target.group) target = tuple;
    }
    if (!target) return false;
    const goal = target;
    if (tuples.every((tuple) => tuple?.group === goal.group)) return true;
    eachElement(peekables, (peekable) => peekable.skipTo(goal, backward));
  }
}

/** The run of the member with most, or fewest, tuples; of several the first. */
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

/** Each source once, in order. */
export function joinSources(sources: readonly Value[]): Value[] {
  const joined: Value[] = [];
  for (const source of sources) {
    if (!joined.some((each) => equalValues(each, source))) joined.push(source);
  }
  return joined;
}
