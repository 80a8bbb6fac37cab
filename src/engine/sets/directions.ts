/**
 * Opens the members of a set in one common direction. The direction of a join by a lambda is known only from its targets, so such a join
 * may be combined with sets of any direction. Spec: sets 4, "Shapes".
 */
import { eachElement } from '../../query/collect-needs.ts';
import type { SetValue } from '../../values/value.ts';
import type { Sets, SetShape } from './operation.ts';
import { wholeRuns } from './runs.ts';
import { takeTuples, type SetCursor, type SetRequest } from './set-cursor.ts';
import { compareTuples, tupleInDirections, unmarked, type Tuple } from './tuple.ts';

type Directions = SetShape['reversed'];

/** For each value, the direction in the first shape that has such a value. */
export function directionsOfAll(
  shapes: readonly Pick<SetShape, 'reversed'>[],
  known: Directions = [],
): Directions {
  const all = [...known];
  for (const { reversed } of shapes) all.push(...reversed.slice(all.length));
  return all;
}

/** The possible numbers of values of all members. Empty (not known) if those of one member are not known. */
export const aritiesOfAll = (shapes: readonly SetShape[]): readonly number[] =>
  shapes.every(({ arities }) => arities.length > 0)
    ? [...new Set(shapes.flatMap(({ arities }) => arities))]
    : [];

/**
 * Opens the members so that each returns whole runs, all in the order of the first member that is not empty.
 * @param known directions of the combined set, as far as its definition determines them
 */
export function openAlike(
  members: readonly SetValue[],
  known: Directions,
  request: SetRequest,
  sets: Sets,
): SetCursor[] {
  const whole = wholeRuns(request);
  const shapes = readShapes(members, request, sets);
  const directions = directionsOfAll(shapes, known);
  return eachElement(members, (set, i) => {
    const { longerFirst = false, reversed = [] } = shapes[i] ?? {};
    const isTurned = !areAlike(reversed, directions);
    if (!isTurned && !longerFirst) return sets.open(set, whole);
    const all = sets.open(set, { ...whole, lower: [], upper: [] });
    const inOrder = (tuple: Tuple): Tuple =>
      isTurned ? tupleInDirections(tuple, directions) : { ...tuple, group: unmarked(tuple.group) };
    return sorted(all, request, inOrder);
  });
}

/** The shapes of the members. Reads the sources of joins only if the definitions do not determine the directions. */
function readShapes(
  members: readonly SetValue[],
  request: SetRequest,
  sets: Sets,
): readonly SetShape[] {
  const shapes = members.map((set) => sets.shapeOf(set));
  if (members.length < 2 || shapes.every(({ reversed }) => reversed.length > 0)) return shapes;
  return eachElement(members, (set) => sets.readShapeOf(set, request));
}

/** Whether two sets have the same directions. The last direction is that of the ref, which is ignored if there are values. */
function areAlike(reversed: Directions, directions: Directions): boolean {
  const count = Math.max(1, reversed.length - 1);
  return reversed.slice(0, count).every((each, i) => each === directions[i]);
}

/** The tuples of a cursor in another order. Reads all of them at once. */
const sorted = (
  cursor: SetCursor,
  { backward }: SetRequest,
  inOrder: (tuple: Tuple) => Tuple,
): SetCursor => ({
  pull: () =>
    takeTuples(cursor, Infinity)
      .map(inOrder)
      .sort((a, b) => (backward ? compareTuples(b, a) : compareTuples(a, b))),
  narrow: () => undefined,
});
