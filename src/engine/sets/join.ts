/** Joins: the union of one target set for each element of a source, every value once. Spec: sets 4. */
import type { SetValue } from '../../values/value.ts';
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
import { joinSources } from './algebra.ts';
import { compareTuples, withSources, type Tuple } from './tuple.ts';

/** Elements of the source read at first: all of them are wanted. */
const SOURCE_FIRST = 512;

export function openJoin(
  source: SetTarget,
  targetOf: (element: Tuple) => SetValue,
  reversed: readonly boolean[],
  request: SetRequest,
  open: OpenSet,
): SetCursor {
  const elements = sourceElements(source, request, open);
  const whole = { ...wholeRuns(request), rows: false };
  const cursors = eachElement(elements, (element) => open(targetOf(element), whole));
  const merge = new RunMerge(cursors, request.backward);
  const next = () => {
    const runs = merge.next();
    return runs && [oneOf(runs, request)];
  };
  return runCursor(request, reversed, next, (bound) => {
    for (const cursor of cursors) cursor.narrow(bound);
  });
}

/** Each value of the source once. */
export function sourceElements(
  source: SetTarget,
  request: Pick<SetRequest, 'past' | 'filtered'>,
  open: OpenSet,
): readonly Tuple[] {
  const { past, filtered } = request;
  const peekable = new PeekableCursor(
    open(source, {
      past,
      filtered,
      backward: false,
      lower: [],
      upper: [],
      first: SOURCE_FIRST,
      rows: false,
      sources: false,
    }),
  );
  const elements = new Map<string, Tuple>();
  for (let each = peekable.peek(); each; each = peekable.peek()) {
    if (!elements.has(each.group)) elements.set(each.group, each);
    peekable.advance();
  }
  return [...elements.values()];
}

/** The first, in the order of the set, of all tuples with the same value. */
function oneOf(runs: readonly (readonly Tuple[])[], { backward, sources }: SetRequest): Tuple {
  let [best] = runs.map((run) => run.at(backward ? -1 : 0));
  for (const run of runs) {
    const first = run.at(backward ? -1 : 0);
    if (first && best && compareTuples(first, best) < 0) best = first;
  }
  if (!best) throw new Error('a merge gave an empty run');
  return sources
    ? withSources(best, joinSources(runs.flat().flatMap((each) => each.sources)))
    : best;
}
