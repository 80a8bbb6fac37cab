/** Differences between two versions of an object, and applying them. Spec: values 8, sets 6. */
import { equalValues } from './equal.ts';
import { isArray, isObject, type ObjectValue, type Value } from './value.ts';

/** The members that differ; nested objects are compared member by member, a removed member is null. Null if nothing differs. */
export function changesOf<V extends Value>(
  before: ReadonlyMap<string, V>,
  after: ReadonlyMap<string, V>,
): ReadonlyMap<string, V | null> | null;
export function changesOf(before: ObjectValue, after: ObjectValue): ObjectValue | null {
  const changes = new Map<string, Value>();
  for (const [key, value] of after) {
    const old = before.get(key);
    if (old === undefined) changes.set(key, value);
    else if (isObject(old) && isObject(value)) {
      const inner = changesOf(old, value);
      if (inner) changes.set(key, inner);
    } else if (!isSameInside(old, value)) changes.set(key, value);
  }
  for (const key of before.keys()) if (!after.has(key)) changes.set(key, null);
  return changes.size > 0 ? changes : null;
}

/** Equality of members of an object: 1 and 1.0 differ. */
export const isSameInside = (a: Value, b: Value): boolean => equalValues([a], [b]);

/** Applies changes: objects are merged at every depth, null removes a member, any other value replaces the old one. */
export function patchedObject<V extends Value>(
  old: ReadonlyMap<string, V>,
  change: ReadonlyMap<string, V>,
): ReadonlyMap<string, V>;
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

/** Removes null members at every depth. A value that is null itself is returned unchanged. */
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

/** Applies `change` to each member. Copies the object only if a member changes. */
export function changedObject(object: ObjectValue, change: (value: Value) => Value): ObjectValue {
  let copy: Map<string, Value> | undefined;
  for (const [name, value] of object) {
    const changed = change(value);
    if (changed === value) continue;
    copy ??= new Map(object);
    copy.set(name, changed);
  }
  return copy ?? object;
}

export function changedArray(
  array: readonly Value[],
  change: (value: Value) => Value,
): readonly Value[] {
  let copy: Value[] | undefined;
  array.forEach((value, i) => {
    const changed = change(value);
    if (changed === value) return;
    copy ??= [...array];
    copy[i] = changed;
  });
  return copy ?? array;
}
