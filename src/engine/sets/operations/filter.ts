/** `filter`: the tuples whose element a lambda accepts. Spec: sets 4. */
import { fail } from '../../../errors.ts';
import { typeExpected } from '../../../fault-texts.ts';
import { effectOf } from '../../../query/lambda-value.ts';
import { positionOf } from '../../../query/query-path.ts';
import { typeName } from '../../../values/type-name.ts';
import type { SetParts } from '../../../values/set-parts.ts';
import type { SetOf } from '../../../values/value.ts';
import { filterCursor } from '../filtered.ts';
import { accessToInner, type SetOperation } from '../operation.ts';
import { MEMBER_WORK } from '../set-cursor.ts';
import { elementOf } from '../tuple.ts';

export const parts = {
  set: { kind: 'set', wire: 'collection' },
  lambda: { kind: 'predicate', wire: 'filter' },
} as const satisfies SetParts;

export const filter: SetOperation<SetOf<'filter'>> = {
  shape: ({ set }, sets) => ({ ...sets.shapeOf(set), hasHistory: false }),
  showsRefs: ({ set }, sets) => sets.showsRefs(set),
  access: accessToInner,

  open({ set, lambda }, request, sets) {
    const { lambdas } = sets.context;
    const { path, key } = sets.reading;
    const rows = request.rows || effectOf(lambda) !== 'pure';
    const time = request.past ?? 'present';
    const tupleWork = request.tupleWork + MEMBER_WORK;
    return filterCursor(sets.open(set, { ...request, rows, tupleWork }), request.first, (tuple) => {
      const verdict = lambdas.apply(lambda, elementOf(tuple), 'read', time);
      if (typeof verdict === 'boolean') return verdict;
      const text = typeExpected('Boolean', typeName(verdict));
      return fail('invalid argument', positionOf(path, key, 'filter'), text);
    });
  },

  changes: ({ set }, request, sets) => sets.changesOf(set, request),
};
