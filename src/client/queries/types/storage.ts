/** Types of the builders for reading, writing, sets, refs and identities. */
import type { Expr, Ref, SetRef } from '../values.ts';
import type { Arg, Evaluated, Lambda } from './arguments.ts';
import type {
  Changes,
  CollectionRef,
  Data,
  DataOf,
  StoredDocument,
  DocumentRef,
  KeyDocument,
  LoginParams,
  Page,
  PaginateOptions,
  Params,
  SchemaDocument,
  Shown,
  Token,
} from './documents.ts';
import type { At, Leads, Otherwise, Step } from './paths.ts';
import type {
  AccessProviderParams,
  CollectionParams,
  DatabaseParams,
  FunctionParams,
  IndexParams,
  KeyParams,
  RoleParams,
} from './schema.ts';

type Nullary<R> = () => Expr<R>;
type Unary<R> = (value: Arg) => Expr<R>;
type Binary<R> = (first: Arg, second: Arg) => Expr<R>;
/** Creates a schema object. A misspelt member is a type error in an object literal, and an error of the query in an expression. */
type Made<P, R = SchemaDocument> = (params: P | Expr) => Expr<R>;
type NativeRef = (scope?: Arg) => Expr<Ref>;
type NamedRef = (name: Arg, scope?: Arg) => Expr<Ref>;

/** A document whose `data` is a `T` if `T` is given; otherwise, of the type that the argument implies. */
export type DocumentAt<T, A> = StoredDocument<[T] extends [never] ? DataOf<A> : T>;

export interface Reading {
  Get: <T = never, A extends Arg = Arg>(ref: A, ts?: Arg) => Expr<DocumentAt<T, A>>;
  KeyFromSecret: Unary<Data>;
  Paginate: {
    <T, const O extends PaginateOptions = PaginateOptions>(
      set: Expr<SetRef<T>>,
      options?: O,
    ): Expr<Page<Shown<T, O>>>;
    <T = unknown>(set: Arg, options?: PaginateOptions): Expr<Page<T>>;
  };
  Exists: (ref: Arg, ts?: Arg) => Expr<boolean>;
  Select: {
    <O, const P extends Step | readonly Step[], D = never>(
      path: P & Leads<O, P, D>,
      from: Expr<O>,
      otherwise?: D,
    ): Expr<At<O, P> | Evaluated<D>>;
    <T = unknown, A extends Arg = Arg, const P extends Arg = Arg, D extends Otherwise = Otherwise>(
      path: P & (D extends readonly [] ? Leads<Evaluated<A>, P, never> : unknown),
      from: A,
      ...otherwise: D
    ): Expr<T>;
  };
  /** @deprecated */
  SelectAll: <T = unknown>(path: Arg, from: Arg) => Expr<T[]>;
  /** @deprecated in favour of `ContainsPath` */
  Contains: Binary<boolean>;
  ContainsPath: Binary<boolean>;
  ContainsField: Binary<boolean>;
  ContainsValue: Binary<boolean>;
}

export interface Writing {
  Create: <T = never, A extends Arg = Arg>(
    collection: A,
    params?: Params<DataOf<A>>,
  ) => Expr<DocumentAt<T, A>>;
  Update: <T = never, A extends Arg = Arg>(
    ref: A,
    params: Changes<DataOf<A>>,
  ) => Expr<DocumentAt<T, A>>;
  Replace: <T = never, A extends Arg = Arg>(
    ref: A,
    params: Params<DataOf<A>>,
  ) => Expr<DocumentAt<T, A>>;
  Delete: <T = never, A extends Arg = Arg>(ref: A) => Expr<DocumentAt<T, A>>;
  Insert: <T = unknown>(ref: Arg, ts: Arg, action: Arg, params: Arg) => Expr<T>;
  Remove: (ref: Arg, ts: Arg, action: Arg) => Expr<null>;
  /** @deprecated in favour of `CreateCollection` */
  CreateClass: Made<CollectionParams, Data>;
  CreateCollection: Made<CollectionParams>;
  CreateDatabase: Made<DatabaseParams>;
  CreateIndex: Made<IndexParams, SchemaDocument & { active: boolean }>;
  CreateKey: Made<KeyParams, KeyDocument>;
  CreateFunction: Made<FunctionParams>;
  CreateRole: Made<RoleParams>;
  CreateAccessProvider: Made<AccessProviderParams>;
  MoveDatabase: Binary<unknown>;
}

interface Algebra {
  <T>(...sets: [Expr<SetRef<T>>, ...Expr<SetRef<T>>[]]): Expr<SetRef<T>>;
  <T>(...arrays: [readonly T[], ...(readonly T[])[]]): Expr<Evaluated<T>[]>;
  (...collections: [Arg, ...Arg[]]): Expr<SetRef>;
}

export interface Sets {
  Singleton: Unary<SetRef<Ref>>;
  Events: Unary<SetRef>;
  Match: <T = unknown>(index: Arg, ...terms: Arg[]) => Expr<SetRef<T>>;
  Union: Algebra;
  Intersection: Algebra;
  Difference: Algebra;
  Join: {
    <S, T>(source: Expr<SetRef<S>>, target: (element: Expr<S>) => Expr<SetRef<T>>): Expr<SetRef<T>>;
    <T = unknown>(
      source: Arg,
      target: Expr | ((...variables: Expr<never>[]) => Expr<SetRef<T>>),
    ): Expr<SetRef<T>>;
  };
  Range: <A extends Arg>(set: A, from: Arg, to: Arg) => Expr<Evaluated<A>>;
  Documents: {
    <T>(collection: Expr<CollectionRef<T>>): Expr<SetRef<Member<T>>>;
    (collection: Arg): Expr<SetRef<Ref>>;
  };
  Merge: {
    <A extends object, B extends object>(object: Expr<A>, other: Expr<B>): Expr<Merged<A, B>>;
    <T = Data>(object: Arg, others: Arg, resolver?: Lambda): Expr<T>;
  };
}

type Member<T> = unknown extends T ? Ref : DocumentRef<T>;
type Merged<A, B> = {
  [K in keyof A | keyof B]: K extends keyof B ? B[K] : K extends keyof A ? A[K] : never;
};

export interface Identities {
  Login: (user: Arg, params: LoginParams) => Expr<Token>;
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

export interface Refs {
  /** @deprecated in favour of `NewId` */
  NextId: Nullary<string>;
  NewId: Nullary<string>;
  Database: NamedRef;
  Index: NamedRef;
  /** @deprecated in favour of `Collection` */
  Class: NamedRef;
  /** With a document type, refs, sets and documents derived from the collection have that type: `q.Collection<Note>('notes')`. */
  Collection: {
    (name: Arg, scope?: Arg): Expr<Ref>;
    <T>(name: Arg, scope?: Arg): Expr<CollectionRef<T>>;
  };
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
