/** Equality of values, as the function `equals` has it. Spec: values 9. */
import { unreachable } from '../errors.ts';
import { toDouble } from './number.ts';
import { partOf, partsOfOp } from './sets.ts';
import {
  Double,
  isArray,
  isInteger,
  isKind,
  isKinded,
  isNumber,
  isObject,
  type Action,
  type ActionName,
  type Document,
  type Event,
  type Kinded,
  type Lambda,
  type ObjectValue,
  type SetValue,
  type Value,
} from './value.ts';

/** `exact` (API version 5 and later): an action equals only the string of its own name. `loose`: also those of `LOOSE_ACTIONS`. */
export type ActionEquality = 'loose' | 'exact';

/** Compares as `equals` does: `1` equals `1.0` when both are operands, but not within arrays and objects. */
export function equalValues(a: Value, b: Value, actions: ActionEquality = 'loose'): boolean {
  if (isNumber(a) && isNumber(b) && !(isInteger(a) && isInteger(b))) {
    return Object.is(toDouble(a), toDouble(b));
  }
  return equalInside(a, b, actions);
}

/** Equality of values inside arrays and objects. */
function equalInside(a: Value, b: Value, actions: ActionEquality): boolean {
  if (a === b) return !isNaNValue(a);
  if (typeof a === 'string' && isKind(b, 'action')) return equalActionAndString(b, a, actions);
  if (typeof b === 'string' && isKind(a, 'action')) return equalActionAndString(a, b, actions);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isArray(a)) return isArray(b) && equalArrays(a, b, actions);
  if (isObject(a)) return isObject(b) && equalObjects(a, b, actions);
  return isKinded(b) && equalKinded(a, b, actions);
}

const isNaNValue = (value: Value): boolean =>
  Number.isNaN(value instanceof Double ? value.value : value);

function equalArrays(a: readonly Value[], b: readonly Value[], actions: ActionEquality): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) {
    if (!equalInside(a[at] ?? null, b[at] ?? null, actions)) return false;
  }
  return true;
}

function equalObjects(a: ObjectValue, b: ObjectValue, actions: ActionEquality): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) {
    const other = b.get(key);
    if (other === undefined || !equalInside(value, other, actions)) return false;
  }
  return true;
}

const LOOSE_ACTIONS = new Map<string, readonly ActionName[]>([
  ['create', ['create', 'update', 'add']],
  ['delete', ['delete', 'remove']],
]);

function equalActionAndString(action: Action, text: string, actions: ActionEquality): boolean {
  if (action.name === text) return true;
  return actions === 'loose' && Boolean(LOOSE_ACTIONS.get(text)?.includes(action.name));
}

function equalKinded(a: Kinded, b: Kinded, actions: ActionEquality): boolean {
  switch (a.kind) {
    case 'double':
      return b.kind === 'double' && a.value === b.value;
    case 'bytes':
      return (
        b.kind === 'bytes' &&
        a.bytes.length === b.bytes.length &&
        a.bytes.every((byte, index) => byte === b.bytes[index])
      );
    case 'time':
      return b.kind === 'time' && a.nanos === b.nanos;
    case 'date':
      return b.kind === 'date' && a.day === b.day;
    case 'uuid':
      return b.kind === 'uuid' && a.text === b.text;
    case 'ref':
      return (
        b.kind === 'ref' &&
        a.id === b.id &&
        a.collection === b.collection &&
        a.database === b.database
      );
    case 'unresolved':
      return b.kind === 'unresolved' && a.what === b.what && a.name === b.name && a.wire === b.wire;
    case 'action':
      return b.kind === 'action' && a.name === b.name;
    case 'pending':
      return b.kind === 'pending';
    default:
      return equalStructured(a, b, actions);
  }
}

type Structured = Extract<
  Kinded,
  { kind: 'set' | 'lambda' | 'page' | 'document' | 'event' | 'sourced' }
>;

function equalStructured(a: Structured, b: Kinded, actions: ActionEquality): boolean {
  switch (a.kind) {
    case 'set':
      return b.kind === 'set' && equalSets(a, b, actions);
    case 'lambda':
      return b.kind === 'lambda' && equalLambdas(a, b);
    case 'page':
      return (
        b.kind === 'page' &&
        equalOptional(a.before, b.before, actions) &&
        equalOptional(a.after, b.after, actions) &&
        equalArrays(a.data, b.data, actions)
      );
    case 'document':
      return b.kind === 'document' && isSameVersion(a, b, actions);
    case 'event':
      return b.kind === 'event' && equalEvents(a, b, actions);
    case 'sourced':
      return (
        b.kind === 'sourced' &&
        equalInside(a.value, b.value, actions) &&
        equalArrays(a.sources, b.sources, actions)
      );
    default:
      return unreachable(a);
  }
}

const equalOptional = (
  a: Value | undefined,
  b: Value | undefined,
  actions: ActionEquality,
): boolean => (a === undefined || b === undefined ? a === b : equalInside(a, b, actions));

/** A document that `create` returned does not equal the same document read by `get` later: `created` differs. */
const isSameVersion = (a: Document, b: Document, actions: ActionEquality): boolean =>
  a.created === b.created &&
  equalInside(a.ref, b.ref, actions) &&
  equalInside(a.ts, b.ts, actions) &&
  equalObjects(a.fields, b.fields, actions);

const equalEvents = (a: Event, b: Event, actions: ActionEquality): boolean =>
  a.ts === b.ts &&
  a.action === b.action &&
  equalOptional(a.document, b.document, actions) &&
  equalOptional(a.data, b.data, actions);

/** The text of a lambda contains its captured variables, so comparing the texts suffices. */
const equalLambdas = (a: Lambda, b: Lambda): boolean =>
  a.wire === b.wire && a.apiVersion === b.apiVersion;

const equalSets = (a: SetValue, b: SetValue, actions: ActionEquality): boolean =>
  a.op === b.op &&
  partsOfOp(a.op).every(([name]) => equalInside(partOf(a, name), partOf(b, name), actions));
