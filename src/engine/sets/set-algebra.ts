/**
 * Shared by union, intersection and difference. Tuples with equal covered values are equal, so members are read run by run. Spec: sets 4.
 */
import { isNativeCollectionRef } from '../../values/native-refs.ts';
import { isKind, type SetValue } from '../../values/value.ts';
import { combinedChanges, type Change } from './changes.ts';
import type { Access, ChangesRequest, Sets, SetShape, Shapes } from './operation.ts';
import { aritiesOfAll, directionsOfAll, openAlike } from './directions.ts';
import { pickRun } from './runs.ts';
import type { SetCursor, SetRequest } from './set-cursor.ts';

type SetOfMembers = SetValue & { readonly sets: readonly SetValue[] };

export function shapeOfMembers({ sets: members }: SetOfMembers, sets: Shapes): SetShape {
  const shapes = members.map((set) => sets.shapeOf(set));
  return {
    reversed: directionsOfAll(shapes),
    arities: aritiesOfAll(shapes),
    history: shapes.some((each) => each.history),
    hasHistory: shapes.every((each) => each.hasHistory),
  };
}

/** Leaves out members that the caller may not read. */
export function accessToMembers<Set extends SetOfMembers>(
  target: Set,
  sets: Sets,
  isFirstNeeded = false,
): Access<Set> | undefined {
  const members = target.sets.map((each) => sets.accessToSet(each));
  const readable = members.filter((each) => each !== undefined);
  if (members.length === 0) return { target, filtered: false };
  if (readable.length === 0 || (isFirstNeeded && !members[0])) return undefined;
  return {
    target: { ...target, sets: readable.map((each) => each.target) },
    filtered: readable.some((each) => each.filtered),
  };
}

export const openMembers = (
  set: SetOfMembers,
  request: SetRequest,
  sets: Sets,
): readonly SetCursor[] => openAlike(set.sets, sets.shapeOf(set).reversed, request, sets);

export const narrowAll =
  (cursors: readonly SetCursor[]): SetCursor['narrow'] =>
  (bound) => {
    for (const cursor of cursors) cursor.narrow(bound);
  };

/** The changes of each member. As a member, the history of a document counts as the history of the set of that document. */
export const changesOfMembers = (
  members: readonly SetValue[],
  request: ChangesRequest,
  sets: Sets,
): readonly (readonly Change[])[] =>
  members.map((set) => sets.changesOf(asSetOfDocument(set), { ...request, asMember: true }));

/** Changes of a set that contains, for each value, the run of one member: the best according to `isBetter`. */
export const changesOfPicked = (
  members: readonly SetValue[],
  request: ChangesRequest,
  sets: Sets,
  isBetter: Parameters<typeof pickRun>[1],
): readonly Change[] =>
  combinedChanges(changesOfMembers(members, request, sets), (runs) =>
    pickRun(runs, isBetter, { backward: false, sources: request.sources }),
  );

const asSetOfDocument = (set: SetValue): SetValue =>
  set.op === 'events' && isKind(set.of, 'ref') && !isNativeCollectionRef(set.of)
    ? { kind: 'set', op: 'singleton', ref: set.of }
    : set;
