/** The total order of values; `codec/ordered.ts` encodes the same order in bytes. Spec: values 10, decisions. */
import { unreachable } from '../errors.ts';
import { asObject, documentForOrder, type ObjectLike } from './object-view.ts';
import { setForOrder } from './sets.ts';
import {
  Double,
  isArray,
  isKinded,
  isObject,
  type Action,
  type ObjectValue,
  type Ref,
  type SetValue,
  type UnresolvedRef,
  type Value,
} from './value.ts';

/** Rank of each kind in the order. `codec/ordered.ts` has the byte of each. */
const RANK = {
  number: 0,
  bytes: 1,
  string: 2,
  array: 3,
  object: 4,
  ref: 5,
  unresolved: 6,
  time: 7,
  date: 8,
  lambda: 9,
  pending: 10,
  uuid: 11,
  false: 12,
  true: 13,
  null: 14,
} as const;

/** The kinds for which the order is defined. Values of all other kinds are converted to one of these first (`orderedView`). */
export type Ordered = Exclude<Value, ObjectLike | SetValue | Action>;

/** Converts a value to the form that it is ordered by: documents, events, pages and sets to objects, actions to strings. */
export function orderedView(value: Value): Ordered {
  if (!isKinded(value)) return value;
  switch (value.kind) {
    case 'document':
      return documentForOrder(value);
    case 'set':
      return setForOrder(value);
    case 'action':
      return value.name;
    default:
      return asObject(value);
  }
}

/** Negative, zero or positive if `a` is before, equal to or after `b`. 1 and 1.0 compare as equal. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return compareDoubles(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  const left = orderedView(a);
  const right = orderedView(b);
  return rankOf(left) - rankOf(right) || compareSameRank(left, right);
}

function rankOf(value: Ordered): number {
  if (value === null) return RANK.null;
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return RANK.number;
    case 'string':
      return RANK.string;
    case 'boolean':
      return value ? RANK.true : RANK.false;
    default:
      if (isArray(value)) return RANK.array;
      if (isObject(value)) return RANK.object;
      return value.kind === 'double' ? RANK.number : RANK[value.kind];
  }
}

function compareSameRank(a: Ordered, b: Ordered): number {
  if (typeof a === 'string') return compareStrings(a, b as string);
  if (typeof a === 'number' || typeof a === 'bigint' || a instanceof Double) {
    return compareNumbers(unboxed(a), unboxed(b as typeof a));
  }
  if (a === null || typeof a === 'boolean') return 0;
  if (isArray(a)) return compareArrays(a, b as typeof a);
  if (isObject(a)) return compareObjects(a, b as typeof a);
  return compareKinded(a, b as typeof a);
}

type OrderedKind = Exclude<Extract<Ordered, { kind: string }>, Double>;

// Each kind of this function has a rank of its own, and the ranks are equal: `b` has the same kind as `a`.
function compareKinded(a: OrderedKind, b: OrderedKind): number {
  switch (a.kind) {
    case 'bytes':
      return compareBytes(a.bytes, (b as typeof a).bytes);
    case 'ref':
      return compareRefs(a, b as typeof a);
    case 'unresolved':
      return compareUnresolved(a, b as typeof a);
    case 'time':
      return compareScalars(a.nanos, (b as typeof a).nanos);
    case 'date':
      return a.day - (b as typeof a).day;
    case 'lambda':
      return (
        compareStrings(a.wire, (b as typeof a).wire) ||
        compareStrings(a.apiVersion, (b as typeof a).apiVersion)
      );
    case 'uuid':
      return compareStrings(a.text, (b as typeof a).text);
    case 'pending':
      return 0;
    default:
      return unreachable(a);
  }
}

/** Compares with `<`: strings by UTF-16 code units, which is the order of stored keys. */
export const compareScalars = <T extends number | bigint | string>(a: T, b: T): number =>
  a < b ? -1 : a > b ? 1 : 0;

const unboxed = (value: number | bigint | Double): number | bigint =>
  value instanceof Double ? value.value : value;

/** Compares exactly, also an int64 with a double, so the order is total. */
function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (typeof a === 'number' && typeof b === 'number') return compareDoubles(a, b);
  // At least one of the two is an int64 here, which is never -0 and never NaN.
  if (Number.isNaN(a)) return 1;
  if (Number.isNaN(b)) return -1;
  return compareScalars(a, b);
}

function compareDoubles(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return a === 0 ? signOfZero(a) - signOfZero(b) : 0;
  return (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0);
}

const signOfZero = (zero: number): number => (Object.is(zero, -0) ? -1 : 0);

const QUESTION_MARK = 0x3f;
const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** Order of UTF-8 bytes, which is the order of code points. A lone surrogate counts as `?`, because it is stored as `?`. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  // The first difference may be in the second half of a surrogate pair.
  if (at > 0 && isHighSurrogate(a.charCodeAt(at - 1))) at -= 1;
  return compareCodePoints(a, b, at);
}

function compareCodePoints(a: string, b: string, start: number): number {
  let left = start;
  let right = start;
  while (left < a.length && right < b.length) {
    const one = codePointAt(a, left);
    const other = codePointAt(b, right);
    if (one !== other) return one - other;
    left += one > 0xffff ? 2 : 1;
    right += other > 0xffff ? 2 : 1;
  }
  return a.length - left - (b.length - right);
}

function codePointAt(text: string, at: number): number {
  const point = text.codePointAt(at) ?? QUESTION_MARK;
  return isSurrogate(point) ? QUESTION_MARK : point;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function compareArrays(a: readonly Value[], b: readonly Value[]): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const difference = compareValues(a[at] ?? null, b[at] ?? null);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Keys in the order of their UTF-16 code units, which is how JavaScript sorts. */
export const sortedKeys = (object: ObjectValue): readonly string[] => [...object.keys()].sort();

function compareObjects(a: ObjectValue, b: ObjectValue): number {
  const left = sortedKeys(a);
  const right = sortedKeys(b);
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const [one = '', other = ''] = [left[at], right[at]];
    const difference =
      compareStrings(one, other) || compareValues(a.get(one) ?? null, b.get(other) ?? null);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** By id, then by the number of the collection (order of creation), then by database. */
export const compareRefs = (a: Ref, b: Ref): number =>
  compareScalars(a.id, b.id) || a.collection - b.collection || a.database - b.database;

const compareUnresolved = (a: UnresolvedRef, b: UnresolvedRef): number =>
  compareStrings(a.what, b.what) ||
  compareStrings(a.name, b.name) ||
  compareStrings(a.wire, b.wire);
