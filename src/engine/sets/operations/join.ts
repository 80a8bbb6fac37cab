/** `join`: the union of one target set for each element of a source, without duplicate values. Spec: sets 4. */
import { fail } from '../../../errors.ts';
import { typeExpected } from '../../../fault-texts.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import { positionOf } from '../../../query/query-path.ts';
import { isNativeCollectionRef } from '../../../values/native-refs.ts';
import { typeName } from '../../../values/type-name.ts';
import type { SetParts } from '../../../values/set-parts.ts';
import { isKind, Ref, type SetOf, type SetValue } from '../../../values/value.ts';
import { joinedChanges } from '../changes.ts';
import {
  accessToInner,
  shapeOfIndex,
  shapeOfTuples,
  type SetOperation,
  type Sets,
} from '../operation.ts';
import { RunMerge } from '../run-merge.ts';
import { joinSources, runCursor } from '../runs.ts';
import { MEMBER_WORK, PeekableCursor, type SetRequest } from '../set-cursor.ts';
import { compareTuples, elementOf, withSources, type Tuple } from '../tuple.ts';
import { aritiesOfAll, directionsOfAll, openAlike } from '../directions.ts';
import { narrowAll } from '../set-algebra.ts';
import { failNoHistory } from '../set-history.ts';

export const parts = {
  set: { kind: 'set', wire: 'join' },
  with: { kind: 'target', wire: 'with' },
} as const satisfies SetParts;

type JoinSet = SetOf<'join'>;

/** Size of the first batch of the source. All its elements are read. */
const SOURCE_FIRST = 512;

export const join: SetOperation<JoinSet> = {
  shape(join, sets) {
    const { set, with: target } = join;
    const { hasHistory } = sets.shapeOf(set);
    if (target.kind === 'ref') return { ...shapeOfIndex(sets, target), hasHistory };
    const shapes = (sets.targetsOf(join) ?? []).map((each) => sets.shapeOf(each));
    const reversed = directionsOfAll(shapes);
    return { ...shapeOfTuples([]), reversed, arities: aritiesOfAll(shapes), hasHistory };
  },

  showsRefs: () => false,
  access: accessToInner,

  open(set, request, sets) {
    const targets = sets.joinedSets(set, request);
    const { reversed } = sets.shapeOf(set);
    const cursors = openAlike(targets, reversed, { ...request, rows: false }, sets);
    const merge = new RunMerge(cursors, request.backward);
    const next = () => {
      const runs = merge.next();
      return runs && [oneOf(runs, request)];
    };
    return runCursor(request, reversed, next, narrowAll(cursors));
  },

  changes: (set, request, sets) =>
    joinedChanges(sets.changesOf(set.set, { ...request, asMember: true }), (element) => {
      const target = targetOf(set, element, sets);
      if (!sets.shapeOf(target).hasHistory) failNoHistory(positionOf(sets.reading.path));
      return sets.changesOf(target, request);
    }),
};

/** The target sets, one for each distinct value of the source. */
export const joinTargets = (set: JoinSet, request: SetRequest, sets: Sets): readonly SetValue[] =>
  eachElement(sourceElements(set, request, sets), (element) => targetOf(set, element, sets));

/** The distinct values of the source. */
function sourceElements(
  { set }: JoinSet,
  { past, filtered, tupleWork }: SetRequest,
  sets: Sets,
): readonly Tuple[] {
  const peekable = new PeekableCursor(
    sets.open(set, {
      past,
      filtered,
      backward: false,
      lower: [],
      upper: [],
      first: SOURCE_FIRST,
      rows: false,
      sources: false,
      tupleWork: tupleWork + MEMBER_WORK,
    }),
  );
  const elements = new Map<string, Tuple>();
  for (let each = peekable.peek(); each; each = peekable.peek()) {
    if (!elements.has(each.group)) elements.set(each.group, each);
    peekable.advance();
  }
  return [...elements.values()];
}

/** The target set for an element of the source. */
function targetOf({ with: target }: JoinSet, element: Tuple, { context, reading }: Sets): SetValue {
  if (target.kind === 'ref') {
    const { values, ref } = element;
    return { kind: 'set', op: 'match', index: target, terms: values ?? [ref] };
  }
  const set = context.lambdas.apply(target, elementOf(element), 'pure');
  if (isKind(set, 'set')) return set;
  if (set instanceof Ref && isNativeCollectionRef(set)) {
    return { kind: 'set', op: 'documents', collection: set };
  }
  const text = typeExpected('Set', typeName(set));
  return fail('invalid argument', positionOf(reading.path, reading.key, 'with'), text);
}

/** Picks one of the tuples with the same value: the first in the order of the set. */
function oneOf(runs: readonly (readonly Tuple[])[], { backward, sources }: SetRequest): Tuple {
  const [best] = runs
    .flatMap((run) => run.at(backward ? -1 : 0) ?? [])
    .sort((a, b) => compareTuples(a, b));
  if (!best) throw new Error('a merge gave an empty run');
  return sources
    ? withSources(best, joinSources(runs.flat().flatMap((each) => each.sources)))
    : best;
}
