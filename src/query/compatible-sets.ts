/** Decides which sets can be members of one union, intersection or difference. Spec: sets 4, "Shapes". */
import type { SetValue } from '../values/value.ts';
import type { ReadSession } from './session.ts';

type Shape = ReturnType<ReadSession['shapeOf']>;

/**
 * Adjacent members must both list events or both not list them, and the values that they have in common must have the
 * same direction.
 */
export const areCompatible = (shapes: readonly Shape[]): boolean =>
  shapes.every((shape, index) => {
    const next = shapes[index + 1];
    if (!next) return true;
    const common = Math.min(shape.reversed.length, next.reversed.length);
    const flags = shape.reversed.slice(0, common);
    return shape.history === next.history && flags.every((flag, i) => flag === next.reversed[i]);
  });

/** Whether the members of a set are compatible. True for sets without members. */
export const hasCompatibleMembers = (
  set: SetValue,
  session: Pick<ReadSession, 'shapeOf'>,
): boolean => !('sets' in set) || areCompatible(set.sets.map((each) => session.shapeOf(each)));
