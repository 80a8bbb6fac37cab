/** Converts values to the form in which they are stored. Spec: values 8. */
import { storedText, storedNeedsNames } from '../../codec/stored.ts';
import { equalValues } from '../../values/equal.ts';
import { changedArray, changedObject } from '../../values/object-changes.ts';
import { membersOf } from '../../values/object-view.ts';
import { partOf, partsOfOp, setOfParts } from '../../values/sets.ts';
import { isArray, isObject } from '../../values/value.ts';
import type { DatabaseId, Micros, ObjectValue, SetValue, Value } from '../../values/value.ts';

/**
 * Converts documents, events and pages to plain objects, actions to strings, and the pending commit time to a number, also inside sets.
 * Returns the value itself if nothing changes, which is the common case.
 */
function plainValue(value: Value, commitTs: Micros): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (isArray(value)) return changedArray(value, (each) => plainValue(each, commitTs));
  if (isObject(value)) return plainObject(value, commitTs);
  if (value.kind === 'action') return value.name;
  if (value.kind === 'pending') return commitTs;
  if (value.kind === 'set') return plainSet(value, commitTs);
  const members = membersOf(value);
  return members ? plainObject(members, commitTs) : value;
}

export const plainObject = (object: ObjectValue, commitTs: Micros): ObjectValue =>
  changedObject(object, (value) => plainValue(value, commitTs));

/** The terms and bounds of a set may contain any value. */
function plainSet(set: SetValue, commitTs: Micros): SetValue {
  const parts = new Map<string, Value>();
  for (const [name] of partsOfOp(set.op)) parts.set(name, plainValue(partOf(set, name), commitTs));
  const isPlain = [...parts].every(([name, part]) => part === partOf(set, name));
  return isPlain ? set : (setOfParts(set.op, (name) => parts.get(name)) ?? set);
}

/** Whether two values are stored the same. 1 and 1.0 differ; the order of object members does not matter. */
export const isSameStored = (a: Value, b: Value): boolean =>
  isArray(a) || isObject(a) ? equalValues(a, b) : storedText(a) === storedText(b);

/** The body of a row, and whether it can be shown without resolving names. */
export function bodyOf(
  fields: ObjectValue,
  database: DatabaseId,
): { readonly body: string; readonly plain: boolean } {
  const body = storedText(fields, database);
  return { body, plain: !storedNeedsNames(body) };
}
