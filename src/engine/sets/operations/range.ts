/** `range`: the tuples between two bounds, inclusive. Spec: sets 4. */
import type { SetParts } from '../../../values/set-parts.ts';
import type { SetOf } from '../../../values/value.ts';
import { boundAfter, boundOf } from '../cursors.ts';
import { accessToInner, type SetOperation } from '../operation.ts';

export const parts = {
  set: { kind: 'set', wire: 'range' },
  from: { kind: 'bound', wire: 'from' },
  to: { kind: 'bound', wire: 'to' },
} as const satisfies SetParts;

export const range: SetOperation<SetOf<'range'>> = {
  shape: ({ set }, sets) => ({ ...sets.shapeOf(set), hasHistory: false }),
  showsRefs: ({ set }, sets) => sets.showsRefs(set),
  access: accessToInner,

  open({ set, from, to }, request, sets) {
    const { arities } = sets.shapeOf(set);
    const lower = boundOf(from, arities);
    const upper = boundAfter(to, arities);
    return sets.open(set, {
      ...request,
      lower: lower ? [...request.lower, lower] : request.lower,
      upper: upper ? [...request.upper, upper] : request.upper,
    });
  },

  changes: ({ set }, request, sets) => sets.changesOf(set, request),
};
