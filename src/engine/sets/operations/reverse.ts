/** `reverse`: a set in descending order. Spec: sets 4. */
import type { SetParts } from '../../../values/set-parts.ts';
import type { SetOf } from '../../../values/value.ts';
import { accessToInner, type SetOperation } from '../operation.ts';
import { MEMBER_WORK } from '../set-cursor.ts';
import { otherSide, reverseTuple } from '../tuple.ts';

/** What its sets are made of. */
export const parts = {
  set: { kind: 'set', wire: 'reverse' },
} as const satisfies SetParts;

export const reverse: SetOperation<SetOf<'reverse'>> = {
  /** The values are in the other direction. Without covered values, the ref becomes one. */
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
    const cursor = sets.open(target.set, {
      ...request,
      backward: !request.backward,
      lower: request.upper.map(otherSide),
      upper: request.lower.map(otherSide),
      tupleWork: request.tupleWork + MEMBER_WORK,
    });
    return {
      pull: () => cursor.pull().map((tuple) => reverseTuple(tuple, longerFirst)),
      narrow: (bound) => cursor.narrow(otherSide(bound)),
    };
  },

  changes: ({ set }, request, sets) => sets.changesOf(set, request),
};
