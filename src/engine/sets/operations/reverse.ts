/** `reverse`: a set in descending order. Spec: sets 4. */
import type { SetParts } from '../../../values/set-parts.ts';
import type { SetOf, SetValue } from '../../../values/value.ts';
import { accessToInner, type SetOperation, type Sets } from '../operation.ts';
import { MEMBER_WORK, type SetRequest } from '../set-cursor.ts';
import { otherSide, reverseTuple, type Bound } from '../tuple.ts';

export const parts = {
  set: { kind: 'set', wire: 'reverse' },
} as const satisfies SetParts;

export const reverse: SetOperation<SetOf<'reverse'>> = {
  /** The directions of the values are inverted. A set without covered values gets the ref as its value. */
  shape({ set }, sets) {
    const { reversed, arities, history, longerFirst } = sets.shapeOf(set);
    const values = reversed.length > 1 ? reversed.slice(0, -1) : reversed;
    const turned = values.length === 0 ? [] : [...values.map((each) => !each), false];
    return {
      reversed: turned,
      arities: arities.map((count) => count || 1),
      history,
      hasHistory: false,
      longerFirst: arities.length > 1 && !longerFirst,
    };
  },

  showsRefs: ({ set }, sets) => sets.showsRefs(set),
  access: accessToInner,

  open(target, request, sets) {
    const { longerFirst } = sets.shapeOf(target);
    const turned = (bound: Bound): Bound => otherSide(shortened(bound, target.set, request, sets));
    const cursor = sets.open(target.set, {
      ...request,
      backward: !request.backward,
      lower: request.upper.map(turned),
      upper: request.lower.map(turned),
      tupleWork: request.tupleWork + MEMBER_WORK,
    });
    return {
      pull: () => cursor.pull().map((tuple) => reverseTuple(tuple, longerFirst)),
      narrow: (bound) => cursor.narrow(turned(bound)),
    };
  },

  changes: ({ set }, request, sets) => sets.changesOf(set, request),
};

/**
 * Shortens a bound that has more values than the tuples of the set. Such a bound, at a tuple of another member, is after all tuples that it
 * starts with, in the order of both members. Inverted without being shortened, it would be before them.
 */
function shortened(bound: Bound, set: SetValue, request: SetRequest, sets: Sets): Bound {
  if (bound.values.length < 2) return bound;
  const { arities } = sets.readShapeOf(set, request);
  const longest = Math.max(1, ...arities);
  if (arities.length === 0 || bound.values.length <= longest) return bound;
  return { values: bound.values.slice(0, longest), ref: undefined, side: 'high' };
}
