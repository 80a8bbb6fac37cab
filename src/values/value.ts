/**
 * FQL values as the engine represents them. Common cases are plain JavaScript values:
 *
 * | FQL      | JavaScript |
 * |----------|------|
 * | Integer  | a `number` that is a safe integer (never -0), otherwise a `bigint` |
 * | Double   | a `number` that is not an integer (also NaN and infinities); an integral Double, and -0, is boxed in `Double` |
 * | Object   | `Map`: it keeps the order of its members, and `__proto__` is a key like any other |
 *
 * Use `double()` to create Doubles, and `integer()` for Integers that may not be safe integers.
 * Spec: values 2.
 */
import type { NativeSingular } from './native-kinds.ts';
import type { PartKind } from './set-parts.ts';
import type { SetOp, SetTable } from './set-table.ts';

declare const brand: unique symbol;
export type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** Microseconds since the Unix epoch; always a safe integer. */
export type Micros = number;

export class Double {
  readonly kind = 'double';
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export const double = (value: number): number | Double =>
  Number.isInteger(value) ? new Double(value) : value;

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const SAFE_MIN = -SAFE_MAX;

/** Normalises an Integer: wraps around at int64, and converts a safe integer to `number`. */
export const integer = (value: bigint): number | bigint => {
  if (value <= SAFE_MAX && value >= SAFE_MIN) return Number(value);
  const wrapped = BigInt.asIntN(64, value);
  return wrapped <= SAFE_MAX && wrapped >= SAFE_MIN ? Number(wrapped) : wrapped;
};

export class Bytes {
  readonly kind = 'bytes';
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export class Time {
  readonly kind = 'time';
  /** Nanoseconds since the Unix epoch. */
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class DateValue {
  readonly kind = 'date';
  /** Days since 1970-01-01, proleptic Gregorian. */
  readonly day: number;
  constructor(day: number) {
    this.day = day;
  }
}

export class Uuid {
  readonly kind = 'uuid';
  /** In lower case, with dashes. */
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Internal number of a database; 0 is the root database of this store. */
export type DatabaseId = number;
/** Internal number of a collection. Native collections are below 1024, see `native-kinds.ts`. */
export type CollectionId = number;

/**
 * A resolved reference. The ref of a collection is a member of `NATIVE.collections`, also if the collection is native
 * (`Collections()` itself is `{ collection: 1, id: 1n }`).
 */
export class Ref {
  readonly kind = 'ref';
  readonly database: DatabaseId;
  readonly collection: CollectionId;
  readonly id: bigint;
  constructor(database: DatabaseId, collection: CollectionId, id: bigint) {
    this.database = database;
    this.collection = collection;
    this.id = id;
  }
}

/**
 * A ref by a name that does not exist in this database. It is rendered as it was given; nearly every use of it raises
 * `invalid ref`. Spec: values 3.
 */
export class UnresolvedRef {
  readonly kind = 'unresolved';
  /** The kind of the missing object, as `collection` in "Ref refers to undefined collection 'posts'". */
  readonly what: NativeSingular;
  readonly name: string;
  /** Wire text of the ref as it was given: the inside of `{"@ref":…}`. */
  readonly wire: string;
  constructor(what: UnresolvedRef['what'], name: string, wire: string) {
    this.what = what;
    this.name = name;
    this.wire = wire;
  }
}

/** The type of a part of a set, by the kind of the part. */
export interface SetPartValues {
  ref: Ref;
  collection: Ref;
  index: Ref;
  set: SetValue;
  source: SetValue | Ref;
  members: readonly SetValue[];
  terms: readonly Value[];
  bound: readonly Value[];
  predicate: Lambda;
  target: Lambda | Ref;
}

type SetPartsOf<Parts> = {
  readonly [Name in keyof Parts]: Parts[Name] extends { readonly kind: infer Kind extends PartKind }
    ? SetPartValues[Kind]
    : never;
};

export type SetValue = {
  [Op in SetOp]: { readonly kind: 'set'; readonly op: Op } & SetPartsOf<SetTable[Op]> &
    // The ref of a native collection that is used as a set. It is rendered as that ref, and reading it needs other permissions.
    (Op extends 'documents' ? { readonly native?: true } : unknown);
}[SetOp];

/** The sets that an operation creates. */
export type SetOf<Op extends SetOp> = Extract<SetValue, { readonly op: Op }>;

/**
 * A function value. `body` is a checked syntax tree of the query room, opaque here; `captures` has the outer variables that it uses.
 * `wire` is the text `"lambda":…,"expr":…` inside of the rendered `{"@query":{…}}`, with the captured values written into a `let`.
 */
export interface Lambda {
  readonly kind: 'lambda';
  readonly pattern: string | readonly string[];
  readonly body: unknown;
  readonly captures: ReadonlyMap<string, Value>;
  readonly apiVersion: string;
  readonly wire: string;
}

/**
 * The result of `Paginate`. `cursors()[i]` is the cursor of `data[i]`; `take` and `drop` need it to move the page's own cursors.
 * The cursors are made on demand, by a function and not by a getter of a class: pages are copied with the spread operator.
 */
export interface Page {
  readonly kind: 'page';
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly data: readonly Value[];
  readonly cursors: (() => readonly Value[]) | undefined;
}

/** One version of a document. It equals only the same version. Its stored members are parsed on first use. */
export interface Document {
  readonly kind: 'document';
  readonly ref: Ref;
  readonly ts: Micros | PendingTime;
  /** Whether this query created it: if it is the result, HTTP responds with status 201. */
  readonly created: boolean;
  /** Stored and computed top-level members in output order, without `ref` and `ts`. */
  readonly fields: ReadonlyMap<string, Value>;
  /** Wire text of `fields` without the braces, if it can be rendered without looking up names. Otherwise undefined. */
  readonly text: string | undefined;
}

export interface Event {
  readonly kind: 'event';
  /** In a cursor, any Integer. */
  readonly ts: Micros | bigint;
  readonly action: ActionName;
  /** Undefined in the echo of a cursor that is only a time. */
  readonly document: Ref | undefined;
  /** Of a document: the changed `data` or null. Of a set: the covered values. Undefined: the event has no member `data`. */
  readonly data: Value | undefined;
}

export type ActionName = 'create' | 'update' | 'delete' | 'add' | 'remove';

export class Action {
  readonly kind = 'action';
  readonly name: ActionName;
  constructor(name: ActionName) {
    this.name = name;
  }
}

/** An element of a page, if the page was requested with `sources`. */
export interface Sourced {
  readonly kind: 'sourced';
  readonly value: Value;
  readonly sources: readonly Value[];
}

/** The commit time of the running query, which is unknown until it commits. It is not a number. Spec: values 2, last row. */
export class PendingTime {
  readonly kind = 'pending';
}
export const PENDING = new PendingTime();

export type ObjectValue = ReadonlyMap<string, Value>;

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Value[]
  | ObjectValue
  | Double
  | Bytes
  | Time
  | DateValue
  | Uuid
  | Ref
  | UnresolvedRef
  | SetValue
  | Lambda
  | Page
  | Document
  | Event
  | Action
  | Sourced
  | PendingTime;

export const isArray = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isObject = (value: Value): value is ObjectValue => value instanceof Map;
/** A value that is not an array becomes an array of that value. */
export const asArray = (value: Value): readonly Value[] => (isArray(value) ? value : [value]);
export const isInteger = (value: Value): value is number | bigint =>
  (typeof value === 'number' && Number.isInteger(value)) || typeof value === 'bigint';
export const isDouble = (value: Value): value is number | Double =>
  (typeof value === 'number' && !Number.isInteger(value)) || value instanceof Double;
export const isNumber = (value: Value): value is number | bigint | Double =>
  typeof value === 'number' || typeof value === 'bigint' || value instanceof Double;

/** Values with a `kind`: all except JavaScript scalars, arrays and objects. */
export type Kinded = Extract<Value, { readonly kind: string }>;
export const isKinded = (value: Value): value is Kinded =>
  typeof value === 'object' && value !== null && 'kind' in value;
export const isKind = <K extends Kinded['kind']>(
  value: Value | undefined,
  kind: K,
): value is Extract<Kinded, { readonly kind: K }> =>
  typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === kind;
