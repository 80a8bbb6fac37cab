/** `union`: each value occurs as often as in the member that contains it most often. Spec: sets 4. */
import type { SetParts } from '../../../values/set-parts.ts';
import type { SetOf } from '../../../values/value.ts';
import { unitedChanges } from '../changes.ts';
import type { SetOperation } from '../operation.ts';
import { RunMerge } from '../run-merge.ts';
import { pickRun, runCursor } from '../runs.ts';
import {
  accessToMembers,
  changesOfPicked,
  narrowAll,
  openMembers,
  shapeOfMembers,
} from '../set-algebra.ts';

export const parts = {
  sets: { kind: 'members', wire: 'union' },
} as const satisfies SetParts;

export const union: SetOperation<SetOf<'union'>> = {
  shape: shapeOfMembers,
  showsRefs: ({ sets: members }, sets) => members.every((set) => sets.showsRefs(set)),
  access: accessToMembers,

  open(set, request, sets) {
    const cursors = openMembers(set, request, sets);
    const merge = new RunMerge(cursors, request.backward);
    const next = () => {
      const runs = merge.next();
      return runs && pickRun(runs, isLonger, request);
    };
    return runCursor(request, sets.shapeOf(set).reversed, next, narrowAll(cursors));
  },

  changes(set, request, sets) {
    if (request.asMember) return changesOfPicked(set.sets, request, sets, isLonger);
    return unitedChanges(set.sets.map((each) => sets.changesOf(each, request)));
  },
};

const isLonger = (length: number, best: number): boolean => length > best;
