/** `distinct`: the first tuple of each run. Spec: sets 4. */
import type { SetParts } from '../../../values/set-parts.ts';
import type { SetOf } from '../../../values/value.ts';
import { combinedChanges } from '../changes.ts';
import { accessToInner, type SetOperation } from '../operation.ts';
import { runCursor, wholeRuns } from '../runs.ts';
import { PeekableCursor } from '../set-cursor.ts';

export const parts = {
  set: { kind: 'set', wire: 'distinct' },
} as const satisfies SetParts;

export const distinct: SetOperation<SetOf<'distinct'>> = {
  shape: ({ set }, sets) => sets.shapeOf(set),
  showsRefs: ({ set }, sets) => sets.showsRefs(set),
  access: accessToInner,

  open({ set }, request, sets) {
    const cursor = sets.open(set, wholeRuns(request));
    const peekable = new PeekableCursor(cursor);
    const { reversed, arities } = sets.shapeOf(set);
    // Skipping past a value also skips longer tuples that start with it, so it is only possible if all tuples have the same length.
    const canSkip = !request.backward && arities.length === 1;
    const next = () => {
      const first = peekable.peek();
      if (!first) return undefined;
      if (!canSkip) return peekable.takeRun().slice(...(request.backward ? [-1] : [0, 1]));
      peekable.skipPast(first);
      return [first];
    };
    return runCursor(request, reversed, next, (bound) => cursor.narrow(bound));
  },

  changes({ set }, request, sets) {
    const changes = sets.changesOf(set, request);
    return request.asMember ? combinedChanges([changes], ([run = []]) => run.slice(0, 1)) : changes;
  },
};
