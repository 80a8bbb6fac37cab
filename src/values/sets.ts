/**
 * Sets and their parts: creating a set from parts, and converting sets to plain objects for ordering, storage and navigation.
 * Spec: values 5 and 10.
 */
import type { PartKind, SetPart } from './set-parts.ts';
import { SET_TABLE, type SetOp } from './set-table.ts';
import {
  isArray,
  isKind,
  type ObjectValue,
  type Ref,
  type SetPartValues,
  type SetValue,
  type Value,
} from './value.ts';

export type NamedParts = readonly (readonly [name: string, part: SetPart])[];

const STORED: ReadonlyMap<string, NamedParts> = new Map(
  Object.entries(SET_TABLE).map(([op, parts]) => [op, Object.entries<SetPart>(parts)]),
);
const WIRE: ReadonlyMap<string, NamedParts> = new Map(
  [...STORED].map(([op, parts]) => [
    op,
    parts.toSorted(([, a], [, b]) => Number(b.wire === op) - Number(a.wire === op)),
  ]),
);

export const isSetOp = (op: Value | undefined): op is SetOp =>
  typeof op === 'string' && STORED.has(op);

/** The parts of an operation in the order in which they are stored. */
export const partsOfOp = (op: SetOp): NamedParts => STORED.get(op) ?? [];

/** The parts of an operation in the order of the wire text. */
export const wirePartsOfOp = (op: SetOp): NamedParts => WIRE.get(op) ?? [];

export function partOf(set: SetValue, name: string): Value {
  const parts: Readonly<Record<string, Value>> = set;
  return parts[name] ?? null;
}

const isSet = (value: Value): value is SetValue => isKind(value, 'set');
const isRef = (value: Value): value is Ref => isKind(value, 'ref');

const HOLDS: {
  readonly [Kind in PartKind]: (value: Value) => value is Value & SetPartValues[Kind];
} = {
  ref: isRef,
  collection: isRef,
  index: isRef,
  set: isSet,
  source: (value) => isSet(value) || isRef(value),
  members: (value) => isArray(value) && value.every(isSet),
  terms: isArray,
  bound: isArray,
  predicate: (value) => isKind(value, 'lambda'),
  target: (value) => isKind(value, 'lambda') || isRef(value),
};

interface MaybeSet {
  readonly kind: 'set';
  readonly op: SetOp;
  readonly [name: string]: Value;
}

const isWhole = (set: MaybeSet): set is MaybeSet & SetValue =>
  partsOfOp(set.op).every(([name, { kind }]) => HOLDS[kind](set[name] ?? null));

/** Creates a set from its parts. Undefined if the parts do not fit the operation. */
export function setOfParts(
  op: SetOp,
  partNamed: (name: string) => Value | undefined,
): SetValue | undefined {
  const parts = partsOfOp(op).map(([name]) => [name, partNamed(name) ?? null] as const);
  const set: MaybeSet = Object.assign({ kind: 'set', op } as const, Object.fromEntries(parts));
  return isWhole(set) ? set : undefined;
}

/** The object inside of `{"@set":…}`. */
export function setMembers(set: SetValue): ObjectValue {
  const members = new Map<string, Value>();
  for (const [name, { kind, wire }] of wirePartsOfOp(set.op)) {
    const shown = shownPart(kind, partOf(set, name));
    if (shown !== undefined) members.set(wire, shown);
  }
  return members;
}

/** A part as it is written. Undefined: the part is not written. */
function shownPart(kind: PartKind, part: Value): Value | undefined {
  switch (kind) {
    case 'terms':
    case 'bound':
      if (isArray(part) && part.length === 0) return undefined;
      return kind === 'terms' ? unwrapSingle(part) : part;
    case 'members':
      return unwrapSingle(part);
    case 'source':
      return isSet(part) ? (nativeRef(part) ?? setMembers(part)) : part;
    default:
      return part;
  }
}

/** A single element is written without its array, unless the element is an array itself and would be read as the list. */
function unwrapSingle(part: Value): Value {
  if (!isArray(part) || part.length !== 1) return part;
  const [only = part] = part;
  return isArray(only) ? part : only;
}

/** The ref of a native collection that is used as a set. Undefined for all other sets. */
export const nativeRef = (set: SetValue): Ref | undefined =>
  set.op === 'documents' && set.native ? set.collection : undefined;

/** The value by which a set is ordered. */
export const setForOrder = (set: SetValue): ObjectValue | Ref =>
  nativeRef(set) ?? new Map([['@set', setMembers(set)]]);
