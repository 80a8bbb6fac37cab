/** `intersection`: each value occurs as often as in the member that contains it least often. Spec: sets 4. */
import { eachElement } from '../../../query/collect-needs.ts';
import type { SetParts } from '../../../values/set-parts.ts';
import type { SetOf } from '../../../values/value.ts';
import type { SetOperation } from '../operation.ts';
import { pickRun, runCursor } from '../runs.ts';
import { PeekableCursor } from '../set-cursor.ts';
import {
  accessToMembers,
  changesOfPicked,
  narrowAll,
  openMembers,
  shapeOfMembers,
} from '../set-algebra.ts';

export const parts = {
  sets: { kind: 'members', wire: 'intersection' },
} as const satisfies SetParts;

export const intersection: SetOperation<SetOf<'intersection'>> = {
  shape: shapeOfMembers,
  showsRefs: () => false,
  access: accessToMembers,

  open(set, request, sets) {
    const cursors = openMembers(set, { ...request, rows: false }, sets);
    const peekables = cursors.map((cursor) => new PeekableCursor(cursor));
    const next = () => {
      if (!alignAll(peekables, request.backward)) return undefined;
      return pickRun(
        eachElement(peekables, (peekable) => peekable.takeRun()),
        isShorter,
        request,
      );
    };
    return runCursor(request, sets.shapeOf(set).reversed, next, narrowAll(cursors));
  },

  changes: (set, request, sets) => changesOfPicked(set.sets, request, sets, isShorter),
};

const isShorter = (length: number, best: number): boolean => length < best;

/** Moves all cursors to the next group that each of them contains. */
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
