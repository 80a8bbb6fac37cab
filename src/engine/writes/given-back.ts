/** Members that are given back as they were read. What they name may have been deleted since, and is not shown then. */
import { changedArray, changedObject, withoutNulls } from '../../values/object-changes.ts';
import { isArray, isKind, isObject, type Ref, type Value } from '../../values/value.ts';
import { NATIVE } from '../../values/native-kinds.ts';
import type { EngineContext } from '../context/context.ts';
import { isSameStored } from '../documents/stored-values.ts';

/** The stored one of which this is what is left, if something that it names is gone. It stays as it is. */
export const storedAs = (
  context: EngineContext,
  given: Value,
  stored: readonly Value[],
): Value | undefined =>
  stored.find((each) => {
    const shown = withoutGone(context, each);
    return shown !== each && [each, withoutNulls(shown)].some((one) => isSameStored(one, given));
  });

/** With null in its place. The value itself when all is there. */
function withoutGone(context: EngineContext, value: Value): Value {
  const inner = (each: Value) => withoutGone(context, each);
  if (isKind(value, 'ref')) return isThere(context, value) ? value : null;
  if (isArray(value)) return changedArray(value, inner);
  return isObject(value) ? changedObject(value, inner) : value;
}

/** Whether there is the collection, index or function. */
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
