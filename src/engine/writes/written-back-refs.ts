/**
 * Handles fields that a caller writes back as they were read. Objects that they refer to may have been deleted since, and are then missing
 * from what was read.
 */
import { changedArray, changedObject, withoutNulls } from '../../values/object-changes.ts';
import { isArray, isKind, isObject, type Ref, type Value } from '../../values/value.ts';
import { NATIVE } from '../../values/native-kinds.ts';
import type { EngineContext } from '../context/context.ts';
import { isSameStored } from '../documents/stored-values.ts';

/** The stored value that `given` was read from, if something it refers to was deleted since. The stored value is then kept unchanged. */
export const storedOriginal = (
  context: EngineContext,
  given: Value,
  stored: readonly Value[],
): Value | undefined =>
  stored.find((each) => {
    const shown = withoutGone(context, each);
    return shown !== each && [each, withoutNulls(shown)].some((one) => isSameStored(one, given));
  });

/** Replaces refs to deleted objects by null. Returns the value itself if all objects exist. */
function withoutGone(context: EngineContext, value: Value): Value {
  const inner = (each: Value) => withoutGone(context, each);
  if (isKind(value, 'ref')) return isThere(context, value) ? value : null;
  if (isArray(value)) return changedArray(value, inner);
  return isObject(value) ? changedObject(value, inner) : value;
}

/** Whether the collection, index or function exists. */
export function isThere(context: EngineContext, ref: Ref): boolean {
  const schema = context.schema(ref.database);
  switch (ref.collection) {
    case NATIVE.collections:
      return schema.collection(Number(ref.id)) !== undefined;
    case NATIVE.indexes:
      return schema.byId('indexes', ref.id) !== undefined;
    default:
      return schema.byId('functions', ref.id) !== undefined;
  }
}
