/** What becomes of values when they are written. Spec: values 8. */
import { storedText, storedNeedsNames } from '../../codec/stored.ts';
import { equalValues } from '../../values/equal.ts';
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

/** Without nulls, at every depth. Of null, null. */
export function withoutNulls(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (isArray(value)) {
    const kept = value.includes(null) ? value.filter((each) => each !== null) : value;
    return changedArray(kept, withoutNulls);
  }
  return isObject(value) ? objectWithoutNulls(value) : value;
}

export function objectWithoutNulls(object: ObjectValue): ObjectValue {
  let hasNull = false;
  for (const value of object.values()) if (value === null) hasNull = true;
  const kept = hasNull ? new Map([...object].filter(([, value]) => value !== null)) : object;
  return changedObject(kept, withoutNulls);
}

/** Copies only when a member becomes another. */
function changedObject(object: ObjectValue, change: (value: Value) => Value): ObjectValue {
  let copy: Map<string, Value> | undefined;
  for (const [name, value] of object) {
    const changed = change(value);
    if (changed === value) continue;
    copy ??= new Map(object);
    copy.set(name, changed);
  }
  return copy ?? object;
}

function changedArray(array: readonly Value[], change: (value: Value) => Value): readonly Value[] {
  let copy: Value[] | undefined;
  array.forEach((value, i) => {
    const changed = change(value);
    if (changed === value) return;
    copy ??= [...array];
    copy[i] = changed;
  });
  return copy ?? array;
}

/** Objects are merged at every depth, null deletes, the rest is replaced whole. */
export function patchedObject(old: ObjectValue, change: ObjectValue): ObjectValue {
  if (old.size === 0) return objectWithoutNulls(change);
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
