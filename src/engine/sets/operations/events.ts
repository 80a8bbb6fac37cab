/** `events`: the history of a set or of a document. Spec: sets 1.3, 6. */
import { fail } from '../../../errors.ts';
import { positionOf } from '../../../query/query-path.ts';
import type { SetParts } from '../../../values/set-parts.ts';
import type { SetOf } from '../../../values/value.ts';
import { shapeOfTuples, type SetOperation } from '../operation.ts';

export const parts = {
  of: { kind: 'source', wire: 'events' },
} as const satisfies SetParts;

export const events: SetOperation<SetOf<'events'>> = {
  shape(set, sets) {
    const { reversed, hasHistory } = sets.shapeOf(set.of);
    return { ...shapeOfTuples(reversed), history: true, hasHistory };
  },
  showsRefs: () => false,

  access(set, sets) {
    const access = sets.accessTo(set.of);
    return access && { target: { ...set, of: access.target }, filtered: access.filtered };
  },

  open: (_set, _request, { reading }) =>
    fail('invalid argument', positionOf(reading.path, reading.key), 'Sets are not compatible.'),

  changes: (set, request, sets) => sets.changesOf(set.of, request),
};
