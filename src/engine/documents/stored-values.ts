/** What becomes of values when they are written. Spec: values 8. */
import { storedText, storedNeedsNames } from '../../codec/stored.ts';
import { equalValues } from '../../values/equal.ts';
import { changedArray, changedObject } from '../../values/object-changes.ts';
import { membersOf } from '../../values/object-view.ts';
import { partOf, partsOfOp, setOfParts } from '../../values/sets.ts';
import { isArray, isObject } from '../../values/value.ts';
import type { DatabaseId, Micros, ObjectValue, SetValue, Value } from '../../values/value.ts';

/**
 * Documents, events and pages as the objects they look like, actions as strings, the commit time as a number, also
 * inside sets. The value itself when there is none of these in it: most of what is written is plain already.
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

/** Terms and bounds may hold any value. */
function plainSet(set: SetValue, commitTs: Micros): SetValue {
  const parts = new Map<string, Value>();
  for (const [name] of partsOfOp(set.op)) parts.set(name, plainValue(partOf(set, name), commitTs));
  const isPlain = [...parts].every(([name, part]) => part === partOf(set, name));
  return isPlain ? set : (setOfParts(set.op, (name) => parts.get(name)) ?? set);
}

/** Here 1 and 1.0 differ; the order of members does not matter. */
export const isSameStored = (a: Value, b: Value): boolean =>
  isArray(a) || isObject(a) ? equalValues(a, b) : storedText(a) === storedText(b);

/** Body of a row, and whether it can be shown without looking up names. */
export function bodyOf(
  fields: ObjectValue,
  database: DatabaseId,
): { readonly body: string; readonly plain: boolean } {
  const body = storedText(fields, { database });
  return { body, plain: !storedNeedsNames(body) };
}
