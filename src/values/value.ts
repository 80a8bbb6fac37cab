/**
 * FQL values as the engine holds them. Cheap cases are JavaScript's own:
 *
 * | FQL      | here |
 * |----------|------|
 * | Integer  | a safe integer `number` (never -0), else `bigint` |
 * | Double   | a `number` that is no integer (also NaN and infinities); integral ones, and -0, in a `Double` box |
 * | Object   | `Map`: keeps the order written, and `__proto__` is a key like any other |
 *
 * Make Doubles with `double()`, Integers beyond arithmetic on safe numbers with `integer()`.
 * Spec: values 2.
 */
import type { NativeSingular } from './native-kinds.ts';
import type { PartKind } from './set-parts.ts';
import type { SetOp, SetTable } from './set-table.ts';

declare const brand: unique symbol;
export type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** Microseconds since the Unix epoch; safe integers only. */
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

/** Normalises: safe ones become `number`; wraps to int64. */
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
  /** Lower case, with dashes. */
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Internal number of a database; 0 is the root of this store. */
export type DatabaseId = number;
/** Internal number of a collection; native ones are below 1024, see `native-kinds.ts`. */
export type CollectionId = number;

/**
 * A resolved reference. A collection's own ref is a member of `NATIVE.collections`, also when the collection is native
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
 * A ref by a name that does not exist here: it is rendered as given; nearly every use raises `invalid ref`. Spec:
 * values 3.
 */
export class UnresolvedRef {
  readonly kind = 'unresolved';
  /** What is missing: `collection` 'posts' in "Ref refers to undefined collection 'posts'". */
  readonly what: NativeSingular;
  readonly name: string;
  /** Wire text of the ref, as given: the inside of `{"@ref":…}`. */
  readonly wire: string;
  constructor(what: UnresolvedRef['what'], name: string, wire: string) {
    this.what = what;
    this.name = name;
    this.wire = wire;
  }
}

/** What the parts of sets hold, by kind. */
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
    // A native collection's ref used as a set: it is rendered as that ref, and reading it needs other permissions.
    (Op extends 'documents' ? { readonly native?: true } : unknown);
}[SetOp];

/** The sets that an operation makes. */
export type SetOf<Op extends SetOp> = Extract<SetValue, { readonly op: Op }>;

/**
 * A function value. `body` is a checked tree of the query room (opaque here); `captures` holds the outer variables it uses.
 * `wire` is the text of `"lambda":…,"expr":…` as it renders inside `{"@query":{…}}`, captures frozen into a `let`.
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
 * What `Paginate` makes. `cursors()[i]` is the cursor of `data[i]`, kept so that `take` and `drop` can move the page's
 * own. They are made on demand, by a function and not by a getter of a class: a page is changed by spreading it.
 */
export interface Page {
  readonly kind: 'page';
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly data: readonly Value[];
  readonly cursors: (() => readonly Value[]) | undefined;
}

/** A document version as read, equal only to the same version. Stored members are parsed on first use. */
export interface Document {
  readonly kind: 'document';
  readonly ref: Ref;
  readonly ts: Micros | PendingTime;
  /** Made by this query: HTTP answers 201 when it is the result. */
  readonly created: boolean;
  /** Stored and computed top-level members in output order, without `ref` and `ts`. */
  readonly fields: ReadonlyMap<string, Value>;
  /** Wire text of `fields` without the braces, when it needs no look-up of names to render; else undefined. */
  readonly text: string | undefined;
}

export interface Event {
  readonly kind: 'event';
  /** Of a cursor, any Integer. */
  readonly ts: Micros | bigint;
  readonly action: ActionName;
  /** Absent in the echo of a bare time cursor. */
  readonly document: Ref | undefined;
  /** Document events: the changed `data` or null; set events: covered values; undefined: member absent. */
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

/** An element of a page that was requested with `sources`. */
export interface Sourced {
  readonly kind: 'sourced';
  readonly value: Value;
  readonly sources: readonly Value[];
}

/** The commit time of this query, not known until it commits. Not a number. Spec: values 2, last row. */
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
/** One value is an array of it. */
export const asArray = (value: Value): readonly Value[] => (isArray(value) ? value : [value]);
export const isInteger = (value: Value): value is number | bigint =>
  (typeof value === 'number' && Number.isInteger(value)) || typeof value === 'bigint';
export const isDouble = (value: Value): value is number | Double =>
  (typeof value === 'number' && !Number.isInteger(value)) || value instanceof Double;
export const isNumber = (value: Value): value is number | bigint | Double =>
  typeof value === 'number' || typeof value === 'bigint' || value instanceof Double;

/** Values with a `kind`: everything but scalars of JavaScript, arrays and objects. */
export type Kinded = Extract<Value, { readonly kind: string }>;
export const isKinded = (value: Value): value is Kinded =>
  typeof value === 'object' && value !== null && 'kind' in value;
export const isKind = <K extends Kinded['kind']>(
  value: Value | undefined,
  kind: K,
): value is Extract<Kinded, { readonly kind: K }> =>
  typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === kind;
