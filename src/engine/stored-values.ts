/** What becomes of values when they are written. Spec: values 8. */
import { storedText, storedNeedsNames } from '../codec/stored.ts';
import { equalValues } from '../values/equal.ts';
import {
  documentMembers,
  eventMembers,
  pageMembers,
  sourcedMembers,
} from '../values/object-view.ts';
import { isArray, isKinded, isObject } from '../values/value.ts';
import type { DatabaseId, Micros, ObjectValue, Value } from '../values/value.ts';

/** Documents, events and pages as the objects they look like, actions as strings, the commit time as a number. */
export function plainValue(value: Value, commitTs: Micros): Value {
  if (isArray(value)) return value.map((each) => plainValue(each, commitTs));
  if (isObject(value)) return plainObject(value, commitTs);
  if (!isKinded(value)) return value;
  switch (value.kind) {
    case 'document':
      return plainObject(documentMembers(value), commitTs);
    case 'event':
      return plainObject(eventMembers(value), commitTs);
    case 'page':
      return plainObject(pageMembers(value), commitTs);
    case 'sourced':
      return plainObject(sourcedMembers(value), commitTs);
    case 'action':
      return value.name;
    case 'pending':
      return commitTs;
    default:
      return value;
  }
}

export function plainObject(object: ObjectValue, commitTs: Micros): ObjectValue {
  const plain = new Map<string, Value>();
  for (const [name, value] of object) plain.set(name, plainValue(value, commitTs));
  return plain;
}

/** Without nulls, at every depth. Of null, null. */
export function withoutNulls(value: Value): Value {
  if (isArray(value)) return value.filter((each) => each !== null).map(withoutNulls);
  return isObject(value) ? objectWithoutNulls(value) : value;
}

export function objectWithoutNulls(object: ObjectValue): ObjectValue {
  const kept = new Map<string, Value>();
  for (const [name, value] of object) if (value !== null) kept.set(name, withoutNulls(value));
  return kept;
}

/** Objects are merged at every depth, null deletes, the rest is replaced whole. */
export function patchedObject(old: ObjectValue, change: ObjectValue): ObjectValue {
  const patched = new Map(old);
  for (const [name, value] of change) {
    const before = old.get(name);
    if (value === null) patched.delete(name);
    else if (isObject(value) && before !== undefined && isObject(before)) {
      patched.set(name, patchedObject(before, value));
    } else patched.set(name, withoutNulls(value));
  }
  return patched;
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
