/** Types of the builders: what may go in, and what comes out as far as it can be known. */
import type { Bytes, Expr, FaunaDate, FaunaTime, Query, Ref, SetRef } from './values.ts';

/** Any object but a `Date`, which has no wire form: say `q.Time(date.toISOString())`. */
type Plain = Literal | (object & NoDate);
type Literal = NoDate & { readonly [member: string]: unknown };
interface NoDate {
  readonly getTime?: never;
}

/** What may stand where a query expects an expression; functions become lambdas. */
export type Arg = Expr | string | number | bigint | boolean | null | symbol | Plain;

/** What an argument is once evaluated. */
export type Evaluated<A> =
  A extends Expr<infer T>
    ? T
    : A extends string
      ? string
      : A extends number
        ? number
        : A extends bigint
          ? number | bigint
          : A extends boolean
            ? boolean
            : A extends null
              ? null
              : A extends Uint8Array | ArrayBuffer
                ? Bytes
                : A extends (...args: never) => unknown
                  ? Query
                  : A extends readonly (infer Each)[]
                    ? Evaluated<Each>[]
                    : A extends object
                      ? { [K in keyof A]: Evaluated<A[K]> }
                      : unknown;

export type Data = Record<string, unknown>;

export interface Document<T = Data> {
  ref: Ref;
  /** Microseconds since 1970. */
  ts: number;
  data: T;
}

export interface Page<T = unknown> {
  /** Cursor of the page before; absent when there is none. */
  before?: unknown;
  /** Cursor of the next page; absent when there is none. */
  after?: unknown;
  data: T[];
}

/** What `Login` and `Create(Tokens(), …)` give. */
export interface Token {
  ref: Ref;
  ts: number;
  instance: Ref;
  /** Opens the database as the user. Shown this once. */
  secret: string;
  data?: Data;
}

/** Options of `Paginate`: part of its form, so a literal object, whose members may be expressions. */
export interface PaginateOptions {
  size?: Arg;
  after?: Arg;
  before?: Arg;
  cursor?: Arg;
  ts?: Arg;
  events?: Arg;
  sources?: Arg;
}

type Member<O, Path> = Path extends readonly [infer K, ...infer Rest]
  ? K extends keyof O
    ? Member<O[K], Rest>
    : unknown
  : Path extends readonly []
    ? O
    : Path extends keyof O
      ? O[Path]
      : unknown;

/** An element in a lambda. A tuple may be taken apart by several parameters, so its first one is not the whole. */
type Element<T> = T extends readonly unknown[] ? never : T;
type Each<T, B> = (element: Expr<Element<T>>, ...more: Expr<never>[]) => B;
type Lambda = Expr | ((...variables: Expr<never>[]) => unknown);

type Nullary<R> = () => Expr<R>;
type Unary<R> = (value: Arg) => Expr<R>;
type Binary<R> = (first: Arg, second: Arg) => Expr<R>;
type Several<R> = (...values: [Arg, ...Arg[]]) => Expr<R>;
type NativeRef = (scope?: Arg) => Expr<Ref>;
type NamedRef = (name: Arg, scope?: Arg) => Expr<Ref>;
type Fold<R> = Unary<R>;

interface Basic {
  Ref: {
    (collection: Arg, id: Arg): Expr<Ref>;
    (path: string): Expr<Ref>;
  };
  Bytes: (bytes: Uint8Array | ArrayBuffer | string) => Expr<Bytes>;
  Abort: Unary<never>;
  At: <A extends Arg>(time: Arg, expression: A) => Expr<Evaluated<A>>;
  Let: <A>(bindings: Plain, body: A | ((...variables: Expr<never>[]) => A)) => Expr<Evaluated<A>>;
  Var: <T = never>(name: Arg) => Expr<T>;
  If: <A extends Arg, B extends Arg>(
    condition: Arg,
    then: A,
    otherwise: B,
  ) => Expr<Evaluated<A> | Evaluated<B>>;
  Do: <A extends readonly [Arg, ...Arg[]]>(
    ...steps: A
  ) => Expr<A extends readonly [...unknown[], infer Last] ? Evaluated<Last> : unknown>;
  Object: <A extends Plain>(members: A) => Expr<Evaluated<A>>;
  Lambda: {
    (body: Lambda): Expr<Query>;
    (parameters: string | readonly string[], body: Arg): Expr<Query>;
  };
  Call: <T = unknown>(callee: Arg, ...values: Arg[]) => Expr<T>;
  Query: (lambda: Lambda) => Expr<Query>;
}

interface Collections {
  Map: {
    <T, B>(page: Expr<Page<T>>, body: Each<T, B>): Expr<Page<Evaluated<B>>>;
    <T, B>(array: Expr<readonly T[]>, body: Each<T, B>): Expr<Evaluated<B>[]>;
    <T, B>(array: readonly T[], body: Each<Evaluated<T>, B>): Expr<Evaluated<B>[]>;
    <T = unknown>(collection: Arg, body: Lambda): Expr<T>;
  };
  Foreach: <A extends Arg>(collection: A, body: Lambda) => Expr<Evaluated<A>>;
  Filter: <A extends Arg>(collection: A, body: Lambda) => Expr<Evaluated<A>>;
  Take: <A extends Arg>(count: Arg, collection: A) => Expr<Evaluated<A>>;
  Drop: <A extends Arg>(count: Arg, collection: A) => Expr<Evaluated<A>>;
  Prepend: <A extends Arg>(elements: Arg, collection: A) => Expr<Evaluated<A>>;
  Append: <A extends Arg>(elements: Arg, collection: A) => Expr<Evaluated<A>>;
  IsEmpty: Unary<boolean>;
  IsNonEmpty: Unary<boolean>;
  Reduce: <A extends Arg>(body: Lambda, initial: A, collection: Arg) => Expr<Evaluated<A>>;
  Count: Fold<number>;
  Sum: Fold<number>;
  Mean: Fold<number>;
  Any: Fold<boolean>;
  All: Fold<boolean>;
  Reverse: <A extends Arg>(collection: A) => Expr<Evaluated<A>>;
}

type TypeCheck =
  | 'IsNumber'
  | 'IsDouble'
  | 'IsInteger'
  | 'IsBoolean'
  | 'IsNull'
  | 'IsBytes'
  | 'IsTimestamp'
  | 'IsDate'
  | 'IsString'
  | 'IsArray'
  | 'IsObject'
  | 'IsRef'
  | 'IsSet'
  | 'IsDoc'
  | 'IsLambda'
  | 'IsCollection'
  | 'IsDatabase'
  | 'IsIndex'
  | 'IsFunction'
  | 'IsKey'
  | 'IsToken'
  | 'IsCredentials'
  | 'IsRole';

interface Reading {
  Get: <T = Data>(ref: Arg, ts?: Arg) => Expr<Document<T>>;
  KeyFromSecret: Unary<Data>;
  Paginate: {
    <T>(set: Expr<SetRef<T>>, options?: PaginateOptions): Expr<Page<T>>;
    <T = unknown>(set: Arg, options?: PaginateOptions): Expr<Page<T>>;
  };
  Exists: (ref: Arg, ts?: Arg) => Expr<boolean>;
  Select: {
    <O, const P extends string | number | readonly (string | number)[], D = never>(
      path: P,
      from: Expr<O>,
      otherwise?: D,
    ): Expr<Member<O, P> | Evaluated<D>>;
    <T = unknown>(path: Arg, from: Arg, otherwise?: Arg): Expr<T>;
  };
  /** @deprecated */
  SelectAll: <T = unknown>(path: Arg, from: Arg) => Expr<T[]>;
  /** @deprecated in favour of `ContainsPath` */
  Contains: Binary<boolean>;
  ContainsPath: Binary<boolean>;
  ContainsField: Binary<boolean>;
  ContainsValue: Binary<boolean>;
}

interface Writing {
  Create: <T = Data>(collection: Arg, params?: Arg) => Expr<Document<T>>;
  Update: <T = Data>(ref: Arg, params: Arg) => Expr<Document<T>>;
  Replace: <T = Data>(ref: Arg, params: Arg) => Expr<Document<T>>;
  Delete: <T = Data>(ref: Arg) => Expr<Document<T>>;
  Insert: <T = unknown>(ref: Arg, ts: Arg, action: Arg, params: Arg) => Expr<T>;
  Remove: (ref: Arg, ts: Arg, action: Arg) => Expr<null>;
  /** @deprecated in favour of `CreateCollection` */
  CreateClass: Unary<Data>;
  CreateCollection: Unary<SchemaDocument>;
  CreateDatabase: Unary<SchemaDocument>;
  CreateIndex: Unary<SchemaDocument & { active: boolean }>;
  CreateKey: Unary<{ ref: Ref; ts: number; secret: string; hashed_secret: string; role?: unknown }>;
  CreateFunction: Unary<SchemaDocument>;
  CreateRole: Unary<SchemaDocument>;
  CreateAccessProvider: Unary<SchemaDocument>;
  MoveDatabase: Binary<unknown>;
}

/** A collection, index, function, role or database, as its document shows it. */
export interface SchemaDocument {
  ref: Ref;
  ts: number;
  name: string;
  [member: string]: unknown;
}

interface Sets {
  Singleton: Unary<SetRef<Ref>>;
  Events: Unary<SetRef>;
  Match: <T = unknown>(index: Arg, ...terms: Arg[]) => Expr<SetRef<T>>;
  Union: Several<SetRef>;
  Intersection: Several<SetRef>;
  Difference: Several<SetRef>;
  Distinct: <A extends Arg>(set: A) => Expr<Evaluated<A>>;
  Join: <T = unknown>(source: Arg, target: Arg | Lambda) => Expr<SetRef<T>>;
  Range: <A extends Arg>(set: A, from: Arg, to: Arg) => Expr<Evaluated<A>>;
  Documents: Unary<SetRef<Ref>>;
  Merge: <T = Data>(object: Arg, others: Arg, resolver?: Lambda) => Expr<T>;
}

interface Identities {
  Login: (user: Arg, params: Arg) => Expr<Token>;
  Logout: Unary<boolean>;
  Identify: Binary<boolean>;
  /** @deprecated in favour of `CurrentIdentity` */
  Identity: Nullary<Ref>;
  CurrentIdentity: Nullary<Ref>;
  /** @deprecated in favour of `HasCurrentIdentity` */
  HasIdentity: Nullary<boolean>;
  HasCurrentIdentity: Nullary<boolean>;
  CurrentToken: Nullary<Ref>;
  HasCurrentToken: Nullary<boolean>;
}

interface Strings {
  Concat: (strings: Arg, separator?: Arg) => Expr<string>;
  Casefold: (value: Arg, normalizer?: Arg) => Expr<string>;
  ContainsStr: Binary<boolean>;
  ContainsStrRegex: Binary<boolean>;
  StartsWith: Binary<boolean>;
  EndsWith: Binary<boolean>;
  FindStr: (value: Arg, find: Arg, start?: Arg) => Expr<number>;
  FindStrRegex: (
    value: Arg,
    pattern: Arg,
    start?: Arg,
    count?: Arg,
  ) => Expr<{ start: number; end: number; data: string }[]>;
  Length: Unary<number>;
  LowerCase: Unary<string>;
  LTrim: Unary<string>;
  NGram: (terms: Arg, min?: Arg, max?: Arg) => Expr<string[]>;
  Repeat: (value: Arg, count?: Arg) => Expr<string>;
  ReplaceStr: (value: Arg, find: Arg, replace: Arg) => Expr<string>;
  ReplaceStrRegex: (value: Arg, pattern: Arg, replace: Arg, first?: Arg) => Expr<string>;
  RegexEscape: Unary<string>;
  RTrim: Unary<string>;
  Space: Unary<string>;
  SubString: (value: Arg, start?: Arg, length?: Arg) => Expr<string>;
  TitleCase: Unary<string>;
  Trim: Unary<string>;
  UpperCase: Unary<string>;
  Format: (format: Arg, ...values: Arg[]) => Expr<string>;
}

type TimePart =
  | 'ToSeconds'
  | 'ToMillis'
  | 'ToMicros'
  | 'DayOfWeek'
  | 'DayOfYear'
  | 'DayOfMonth'
  | 'Hour'
  | 'Minute'
  | 'Second'
  | 'Month'
  | 'Year';

interface Times {
  Time: Unary<FaunaTime>;
  Epoch: Binary<FaunaTime>;
  TimeAdd: <T = FaunaTime>(base: Arg, offset: Arg, unit: Arg) => Expr<T>;
  TimeSubtract: <T = FaunaTime>(base: Arg, offset: Arg, unit: Arg) => Expr<T>;
  TimeDiff: (start: Arg, finish: Arg, unit: Arg) => Expr<number>;
  Date: Unary<FaunaDate>;
  Now: Nullary<FaunaTime>;
  ToTime: Unary<FaunaTime>;
  ToDate: Unary<FaunaDate>;
}

interface Refs {
  /** @deprecated in favour of `NewId` */
  NextId: Nullary<string>;
  NewId: Nullary<string>;
  Database: NamedRef;
  Index: NamedRef;
  /** @deprecated in favour of `Collection` */
  Class: NamedRef;
  Collection: NamedRef;
  Function: NamedRef;
  Role: NamedRef;
  AccessProvider: (name: Arg) => Expr<Ref>;
  AccessProviders: NativeRef;
  /** @deprecated in favour of `Collections` */
  Classes: NativeRef;
  Collections: NativeRef;
  Databases: NativeRef;
  Indexes: NativeRef;
  Functions: NativeRef;
  Roles: NativeRef;
  Keys: NativeRef;
  Tokens: NativeRef;
  Credentials: NativeRef;
}

type NumberFunction =
  | 'Abs'
  | 'BitNot'
  | 'Ceil'
  | 'Floor'
  | 'Sign'
  | 'Sqrt'
  | 'Acos'
  | 'Asin'
  | 'Atan'
  | 'Cos'
  | 'Cosh'
  | 'Degrees'
  | 'Exp'
  | 'Ln'
  | 'Log'
  | 'Radians'
  | 'Sin'
  | 'Sinh'
  | 'Tan'
  | 'Tanh'
  | 'ToNumber'
  | 'ToDouble'
  | 'ToInteger';
type NumbersFunction =
  | 'Add'
  | 'BitAnd'
  | 'BitOr'
  | 'BitXor'
  | 'Divide'
  | 'Modulo'
  | 'Multiply'
  | 'Subtract';
type Comparison = 'Equals' | 'LT' | 'LTE' | 'GT' | 'GTE' | 'And' | 'Or';

interface Values {
  Max: <T = number>(...values: [Arg, ...Arg[]]) => Expr<T>;
  Min: <T = number>(...values: [Arg, ...Arg[]]) => Expr<T>;
  Round: (value: Arg, precision?: Arg) => Expr<number>;
  Trunc: (value: Arg, precision?: Arg) => Expr<number>;
  Hypot: (value: Arg, side?: Arg) => Expr<number>;
  Pow: (value: Arg, exponent?: Arg) => Expr<number>;
  Not: Unary<boolean>;
  ToString: Unary<string>;
  ToObject: Unary<Data>;
  ToArray: Unary<[string, unknown][]>;
}

export type Builders = Basic &
  Collections &
  Record<TypeCheck, Unary<boolean>> &
  Reading &
  Writing &
  Sets &
  Identities &
  Strings &
  Record<TimePart, Unary<number>> &
  Times &
  Refs &
  Record<NumberFunction, Unary<number>> &
  Record<NumbersFunction, Several<number>> &
  Record<Comparison, Several<boolean>> &
  Values;

type Called<F> = F extends (...args: infer A) => Expr<infer R> ? (...args: A) => Promise<R> : never;

/** Called on a client, a builder runs at once: `client.Get(ref)` is `client.query(q.Get(ref))`. */
export type DirectCalls = {
  readonly [K in Exclude<keyof Builders, keyof TypedCalls>]: Called<Builders[K]>;
} & TypedCalls;

/** The calls whose type parameters would be lost on the way. */
interface TypedCalls {
  Get<T = Data>(ref: Arg, ts?: Arg): Promise<Document<T>>;
  Paginate<T>(set: Expr<SetRef<T>>, options?: PaginateOptions): Promise<Page<T>>;
  Paginate<T = unknown>(set: Arg, options?: PaginateOptions): Promise<Page<T>>;
  Create<T = Data>(collection: Arg, params?: Arg): Promise<Document<T>>;
  Update<T = Data>(ref: Arg, params: Arg): Promise<Document<T>>;
  Replace<T = Data>(ref: Arg, params: Arg): Promise<Document<T>>;
  Delete<T = Data>(ref: Arg): Promise<Document<T>>;
  Call<T = unknown>(callee: Arg, ...values: Arg[]): Promise<T>;
  Select<T = unknown>(path: Arg, from: Arg, otherwise?: Arg): Promise<T>;
  Let<A>(bindings: Plain, body: A | ((...variables: Expr<never>[]) => A)): Promise<Evaluated<A>>;
  Do<A extends readonly [Arg, ...Arg[]]>(
    ...steps: A
  ): Promise<A extends readonly [...unknown[], infer Last] ? Evaluated<Last> : unknown>;
  If<A extends Arg, B extends Arg>(
    condition: Arg,
    then: A,
    otherwise: B,
  ): Promise<Evaluated<A> | Evaluated<B>>;
  Map<T, B>(page: Expr<Page<T>>, body: Each<T, B>): Promise<Page<Evaluated<B>>>;
  Map<T, B>(array: Expr<readonly T[]>, body: Each<T, B>): Promise<Evaluated<B>[]>;
  Map<T = unknown>(collection: Arg, body: Lambda): Promise<T>;
}
