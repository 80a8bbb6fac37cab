/**
 * Casts of arguments. A cast accepts a value or throws the fault of the specification, positioned at the argument.
 * Spec: functions 0, "Casts".
 */
import { fail, fault, QueryFailure } from '../errors.ts';
import type { Fault, FaultText, Step } from '../errors.ts';
import { typeExpected, undefinedRef } from '../fault-texts.ts';
import { TIME_UNITS, type TimeUnit } from '../values/time-units.ts';
import { typeName } from '../values/type-name.ts';
import {
  integer as toInteger,
  isArray,
  isInteger,
  isKind,
  isKinded,
  isNumber,
  isObject,
} from '../values/value.ts';
import { Action, PendingTime, Ref, Time, UnresolvedRef } from '../values/value.ts';
import type {
  DateValue,
  Double,
  Micros,
  ObjectValue,
  Page,
  SetValue,
  Value,
} from '../values/value.ts';
import type { Applicable } from './define.ts';
import type { ArgumentPath, Cast, Parameter } from './function-row.ts';
import { positionOf } from './query-path.ts';
import { trimmed } from './trim.ts';
import { NATIVE } from '../values/native-kinds.ts';
import { isNativeCollectionRef } from '../values/native-refs.ts';

// --- places and faults --------------------------------------------------------------------------

export const NO_STEPS: readonly Step[] = [];

/** The path of the argument `key` of the form at `path`. */
export const argumentAt = (path: ArgumentPath['path'], key: string): ArgumentPath => ({
  path,
  key,
  steps: NO_STEPS,
});

/** The path of element `index` in the argument at `where`. */
export const elementAt = (where: ArgumentPath, index: number): ArgumentPath => ({
  ...where,
  steps: [...where.steps, index],
});

export const positionAt = (where: ArgumentPath): readonly Step[] =>
  positionOf(where.path, where.key, ...where.steps);

/** "T expected, U provided." */
export const wrongType = (
  expected: string,
  value: Value,
  where: ArgumentPath,
  detail?: string,
): never =>
  fail('invalid argument', positionAt(where), typeExpected(expected, typeName(value)), { detail });

/** Throws `invalid argument` at the argument `key` of the form. */
export const refuseArgument = (
  { path }: Pick<ArgumentPath, 'path'>,
  key: string,
  text: FaultText,
): never => fail('invalid argument', positionOf(path, key), text);

export const unresolvedFault = (ref: UnresolvedRef, position: readonly Step[]): Fault =>
  fault('invalid ref', position, undefinedRef(ref.what, ref.name));

export const refuseUnresolved = (ref: UnresolvedRef, where: ArgumentPath): never => {
  throw new QueryFailure([unresolvedFault(ref, positionAt(where))]);
};

// --- parameters ---------------------------------------------------------------------------------

/** A required key. `type` is what the builders and the reference print: `Integer`, `String*`. */
export const param = <T>(cast: Cast<T>, type: string): Parameter<T> => ({
  cast,
  optional: false,
  form: 'expression',
  type,
});

/** A key that may be absent. JSON `null` is not the same as absent: it is a value and is cast. */
export const optional = <T>(cast: Cast<T>, type: string): Parameter<T | undefined> => ({
  cast,
  optional: true,
  form: 'expression',
  type,
});

// A lambda written in place is not a value, and the parser accepts nothing else there. So this cast is never called.
const neverValue: Cast<never> = (value, where) => wrongType('Lambda', value, where);

/** A lambda that must be written in place. */
export const inPlace: Parameter<Applicable> = {
  cast: neverValue,
  optional: false,
  form: 'lambda',
  type: 'Lambda',
};

export const optionalInPlace: Parameter<Applicable | undefined> = { ...inPlace, optional: true };

/** A lambda in place, or a value that `cast` accepts. */
export const inPlaceOr = <T>(cast: Cast<T>, type: string): Parameter<Applicable | T> => ({
  cast,
  optional: false,
  form: 'lambda-or-value',
  type,
});

/** An expression that the function body evaluates only if it needs the value. */
export const lazy: Parameter<(() => Value) | undefined> = {
  cast: (value) => () => value,
  optional: true,
  form: 'lazy',
  type: 'Any',
};

/** Throws the fault of a lambda that does more than `allowed`. Sets limit what the lambdas that they keep may do. */
export const refuseEffect = (allowed: 'pure' | 'read', where: ArgumentPath): never => {
  const verbs = allowed === 'read' ? 'write or call' : 'read, write, or call';
  return fail(
    'invalid argument',
    positionAt(where),
    `Invalid lambda. Lambda in this context may not ${verbs} a user function.`,
  );
};

// --- lists --------------------------------------------------------------------------------------

/** Casts all elements. Reports the faults of all invalid elements, each at its index. */
function castElements<T>(
  cast: Cast<T>,
  elements: readonly Value[],
  where: ArgumentPath,
): readonly T[] {
  try {
    // The common case makes no path per element. If a cast fails, the casts below are repeated with the index of each element.
    return castAll(cast, elements, where);
  } catch (failure) {
    if (!(failure instanceof QueryFailure)) throw failure;
  }
  const faults: Fault[] = [];
  elements.forEach((element, index) => {
    try {
      cast(element, elementAt(where, index));
    } catch (failure) {
      if (!(failure instanceof QueryFailure)) throw failure;
      faults.push(...failure.faults);
    }
  });
  throw new QueryFailure(faults);
}

/** Most casts return their argument: then no new array is made. */
function castAll<T>(cast: Cast<T>, elements: readonly Value[], where: ArgumentPath): readonly T[] {
  for (const element of elements) {
    if (cast(element, where) !== element) return elements.map((each) => cast(each, where));
  }
  return elements as readonly unknown[] as readonly T[];
}

/** `X*`: one X, or an array of X. */
export const manyOf =
  <T>(cast: Cast<T>): Cast<readonly T[]> =>
  (value, where) =>
    isArray(value) ? castElements(cast, value, where) : [cast(value, where)];

/** "Non-empty array expected." */
export const refuseEmpty = (where: ArgumentPath): never =>
  fail('invalid argument', positionAt(where), 'Non-empty array expected.');

/** `X+`: like `X*`, but an array must not be empty. */
export const someOf =
  <T>(cast: Cast<T>): Cast<readonly T[]> =>
  (value, where) => {
    if (!isArray(value)) return [cast(value, where)];
    return value.length === 0 ? refuseEmpty(where) : castElements(cast, value, where);
  };

// --- plain types --------------------------------------------------------------------------------

export const any: Cast<Value> = (value) => value;

export const integer: Cast<number | bigint> = (value, where) =>
  isInteger(value) ? value : wrongType('Integer', value, where);

export const number: Cast<number | bigint | Double> = (value, where) =>
  isNumber(value) ? value : wrongType('Number', value, where);

export const boolean: Cast<boolean> = (value, where) =>
  typeof value === 'boolean' ? value : wrongType('Boolean', value, where);

export const string: Cast<string> = (value, where) =>
  typeof value === 'string' ? value : wrongType('String', value, where);

export const object: Cast<ObjectValue> = (value, where) =>
  isObject(value) ? value : wrongType('Object', value, where);

export const array: Cast<readonly Value[]> = (value, where) =>
  isArray(value) ? value : wrongType('Array', value, where);

export const nothing: Cast<null> = (value, where) =>
  value === null ? value : wrongType('Null', value, where);

const SCALAR_KINDS: ReadonlySet<string> = new Set([
  'double',
  'bytes',
  'time',
  'date',
  'uuid',
  'action',
  'ref',
  'unresolved',
  'pending',
]);

export const isScalar = (value: Value): boolean =>
  isKinded(value) ? SCALAR_KINDS.has(value.kind) : !isArray(value) && !isObject(value);

export const scalar: Cast<Value> = (value, where) =>
  isScalar(value) ? value : wrongType('Scalar', value, where);

/** Any value except an unresolved ref. */
export const term: Cast<Value> = (value, where) =>
  value instanceof UnresolvedRef ? wrongType('Any', value, where) : value;

// --- time ---------------------------------------------------------------------------------------

/** A Time, or an Integer in µs. */
export const time: Cast<Time> = (value, where) => {
  if (value instanceof Time) return value;
  return isInteger(value) ? new Time(BigInt(value) * 1000n) : wrongType('Time', value, where);
};

/** Limits a time in µs to the range of safe integers. All versions are within that range. */
function clampMicros(micros: bigint): Micros {
  const safe = toInteger(micros);
  if (typeof safe === 'number') return safe;
  return micros < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

export const microsOfTime = (value: Time): Micros => {
  const micros = value.nanos / 1000n;
  return clampMicros(micros * 1000n > value.nanos ? micros - 1n : micros);
};

/** A Time, an Integer in µs, or the commit time of this query. */
export const readTime: Cast<Micros | PendingTime> = (value, where) => {
  if (value instanceof Time) return microsOfTime(value);
  if (value instanceof PendingTime) return value;
  return isInteger(value) ? clampMicros(BigInt(value)) : wrongType('Time', value, where);
};

const DIGITS = /^[0-9]{1,19}$/;

/** `ts` of `get` and `paginate`: like `readTime`, or a string of digits. Decisions: "Documents, sets, pages". */
export const readTimeOrDigits: Cast<Micros | PendingTime> = (value, where) =>
  typeof value === 'string' && DIGITS.test(value)
    ? clampMicros(BigInt(value))
    : readTime(value, where);

export const temporal: Cast<Time | DateValue> = (value, where) =>
  isKind(value, 'time') || isKind(value, 'date') ? value : wrongType('Temporal', value, where);

/** A time unit, returned in the singular. */
export const unit: Cast<TimeUnit> = (value, where) => {
  const name = typeof value === 'string' ? trimmed(value).replace(/s$/, '') : undefined;
  const found = TIME_UNITS.find((each) => each === name);
  return found ?? wrongType('Time Unit', value, where, `There are: ${TIME_UNITS.join(', ')}.`);
};

// --- refs and sets ------------------------------------------------------------------------------

const refTo =
  (expected: string, collection: number | undefined): Cast<Ref> =>
  (value, where) => {
    if (value instanceof Ref && (collection === undefined || value.collection === collection)) {
      return value;
    }
    return value instanceof UnresolvedRef
      ? refuseUnresolved(value, where)
      : wrongType(expected, value, where);
  };

export const ref = refTo('Ref', undefined);
export const collectionRef = refTo('Collection Ref', NATIVE.collections);
export const indexRef = refTo('Index Ref', NATIVE.indexes);
export const databaseRef = refTo('Database Ref', NATIVE.databases);

const nameOrRefTo =
  (collection: number | undefined): Cast<string | Ref> =>
  (value, where) => {
    if (typeof value === 'string') return value;
    if (value instanceof Ref && (collection === undefined || value.collection === collection)) {
      return value;
    }
    return value instanceof UnresolvedRef
      ? refuseUnresolved(value, where)
      : wrongType('Identifier', value, where);
  };

export const nameOrRef = nameOrRefTo(undefined);
export const nameOrIndexRef = nameOrRefTo(NATIVE.indexes);
export const nameOrFunctionRef = nameOrRefTo(NATIVE.functions);

/** The ref of a native collection stays a `Ref`. Sessions interpret it as the set of its members. */
export const refOrSet: Cast<Ref | SetValue> = (value, where) => {
  if (value instanceof Ref || isKind(value, 'set')) return value;
  return value instanceof UnresolvedRef
    ? refuseUnresolved(value, where)
    : wrongType('Ref or Set', value, where);
};

/** The set of the members of a native collection. */
export const nativeSet = (collection: Ref): SetValue => ({
  kind: 'set',
  op: 'documents',
  collection,
  native: true,
});

export const set: Cast<SetValue> = (value, where) => {
  if (isKind(value, 'set')) return value;
  if (isNativeCollectionRef(value)) return nativeSet(value);
  return value instanceof UnresolvedRef
    ? refuseUnresolved(value, where)
    : wrongType('Set', value, where);
};

/** The ref of a native collection becomes its set. */
export const iterable: Cast<readonly Value[] | Page | SetValue> = (value, where) => {
  if (isArray(value) || isKind(value, 'page') || isKind(value, 'set')) return value;
  return isNativeCollectionRef(value)
    ? nativeSet(value)
    : wrongType('Array, Set, or Page', value, where);
};

export const arrayOrPage: Cast<readonly Value[] | Page> = (value, where) => {
  const found = iterable(value, where);
  return isArray(found) || found.kind === 'page' ? found : wrongType('Array or Page', value, where);
};

export const setOrArray: Cast<readonly Value[] | SetValue> = (value, where) => {
  if (isArray(value) || isKind(value, 'set')) return value;
  return isNativeCollectionRef(value) ? nativeSet(value) : wrongType('Set or Array', value, where);
};

const ODD_SETS: ReadonlySet<string> = new Set(['range', 'reverse', 'singleton']);

/** Refuses sets that have no position in the order of values. Decisions: "Documents, sets, pages". */
export const refuseOddSet = (value: Value, where: ArgumentPath): void => {
  if (isKind(value, 'set') && ODD_SETS.has(value.op)) wrongType('Ordered value', value, where);
};

// --- paths and actions --------------------------------------------------------------------------

const step: Cast<string | number | bigint> = (value, where) =>
  typeof value === 'string' || isInteger(value)
    ? value
    : wrongType('String or Integer', value, where);

export const path = manyOf(step);

/** The kind of a version to insert or remove. */
export const action: Cast<'create' | 'update' | 'delete'> = (value, where) => {
  const name = value instanceof Action ? value.name : value;
  return name === 'create' || name === 'update' || name === 'delete'
    ? name
    : wrongType("String 'create', 'update', or 'delete'", value, where);
};
