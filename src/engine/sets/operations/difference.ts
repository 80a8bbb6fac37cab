/** `difference`: the tuples of the first member whose values no other member contains. Spec: sets 4. */
import { eachElement } from '../../../query/collect-needs.ts';
import type { SetParts } from '../../../values/set-parts.ts';
import type { SetOf } from '../../../values/value.ts';
import { combinedChanges } from '../changes.ts';
import type { SetOperation } from '../operation.ts';
import { runCursor } from '../runs.ts';
import { PeekableCursor } from '../set-cursor.ts';
import {
  accessToMembers,
  changesOfMembers,
  narrowAll,
  openMembers,
  shapeOfMembers,
} from '../set-algebra.ts';

export const parts = {
  sets: { kind: 'members', wire: 'difference' },
} as const satisfies SetParts;

export const difference: SetOperation<SetOf<'difference'>> = {
  /** All tuples come from the first member. */
  shape(set, sets) {
    const [first] = set.sets;
    return { ...shapeOfMembers(set, sets), arities: first ? sets.shapeOf(first).arities : [] };
  },

  showsRefs: () => false,

  /** If the first member may not be read, there is nothing to subtract from. */
  access: (set, sets) => accessToMembers(set, sets, true),

  open(set, request, sets) {
    const cursors = openMembers(set, { ...request, rows: false }, sets);
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
    const { reversed } = sets.shapeOf(set);
    return runCursor(request, reversed, next, narrowAll(cursors.slice(0, 1)));
  },

  changes: (set, request, sets) =>
    combinedChanges(changesOfMembers(set.sets, request, sets), ([first = [], ...others]) =>
      others.some((run) => run.length > 0) ? [] : first,
    ),
};
