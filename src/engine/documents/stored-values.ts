/** What becomes of values when they are written. Spec: values 8. */
import { storedText, storedNeedsNames } from '../../codec/stored.ts';
import { equalValues } from '../../values/equal.ts';
import { changedArray, changedObject } from '../../values/object-changes.ts';
import { membersOf } from '../../values/object-view.ts';
import { isArray, isObject } from '../../values/value.ts';
import type { DatabaseId, Micros, ObjectValue, Value } from '../../values/value.ts';

/**
 * Documents, events and pages as the objects they look like, actions as strings, the commit time as a number. The value
 * itself when there is none of these in it: most of what is written is plain already.
 */
export function plainValue(value: Value, commitTs: Micros): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (isArray(value)) return changedArray(value, (each) => plainValue(each, commitTs));
  if (isObject(value)) return plainObject(value, commitTs);
  if (value.kind === 'action') return value.name;
  if (value.kind === 'pending') return commitTs;
  const members = membersOf(value);
  return members ? plainObject(members, commitTs) : value;
}

export const plainObject = (object: ObjectValue, commitTs: Micros): ObjectValue =>
  changedObject(object, (value) => plainValue(value, commitTs));

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
