/** Types of the builders for reading, writing, sets, refs and identities. */
import type { Expr, ExprLike, Ref, SetRef } from '../values.ts';
import type { Arg, Evaluated, Lambda, Literally } from './arguments.ts';
import type {
  Changes,
  CollectionRef,
  Data,
  DataOf,
  StoredDocument,
  DocumentRef,
  HistoryEvent,
  KeyDocument,
  LoginParams,
  Page,
  PaginateOptions,
  Params,
  SchemaDocument,
  Shown,
  Token,
} from './documents.ts';
import type { NoDocument, NoName, NoSetOrDocument } from './misplaced.ts';
import type { At, Leads, Otherwise, Suggested, Step } from './paths.ts';
import type { Mode, Returns, Some } from './returns.ts';
import type {
  AccessProviderParams,
  CollectionParams,
  DatabaseParams,
  FunctionParams,
  IndexParams,
  KeyParams,
  RoleParams,
} from './schema.ts';

type Nullary<M extends Mode, R> = () => Returns<M, R>;
/** Creates a schema object. A misspelt member is a type error in an object literal, and an error of the query in an expression. */
type Made<M extends Mode, P, R = SchemaDocument> = (params: P | ExprLike) => Returns<M, R>;
type NativeRef<M extends Mode> = (scope?: Arg) => Returns<M, Ref>;
type NamedRef<M extends Mode> = (name: Arg, scope?: Arg) => Returns<M, Ref>;

/** `T` if it is given; otherwise the type of the data of the document that the argument leads to. */
type DataAt<T, A> = [T] extends [never] ? DataOf<A> : T;

export interface Reading<M extends Mode> {
  /** The document at a ref, or at the first entry of a set. */
  Get: <T = never, A extends Arg = Arg>(
    ref: A & NoDocument<A>,
    ts?: Arg,
  ) => Returns<M, StoredDocument<DataAt<T, A>>>;
  /** The key or token with this secret. */
  KeyFromSecret: (secret: Arg) => Returns<M, Data>;
  /**
   * One page of a set, 64 elements by default, with cursors to the next and previous pages. `after` starts at a cursor, `before` ends just
   * before one; `events` returns the history, `sources` adds which set each element comes from.
   */
  Paginate: {
    /**
     * One page of a set, 64 elements by default, with cursors to the next and previous pages. `after` starts at a cursor, `before` ends
     * just before one; `events` returns the history, `sources` adds which set each element comes from.
     */
    <T, const O extends PaginateOptions = PaginateOptions>(
      set: Expr<SetRef<T>>,
      options?: O,
    ): Returns<M, Page<Shown<T, O>>>;
    /**
     * One page of a set, 64 elements by default, with cursors to the next and previous pages. `after` starts at a cursor, `before` ends
     * just before one; `events` returns the history, `sources` adds which set each element comes from.
     */
    <T = unknown, A extends Arg = Arg>(
      set: A & NoDocument<A>,
      options?: PaginateOptions,
    ): Returns<M, Page<T>>;
  };
  /** Whether the document exists, or the set has an element, and the caller may read it. */
  Exists: <A extends Arg>(ref: A & NoDocument<A>, ts?: Arg) => Returns<M, boolean>;
  /** The value at a path, or the default if there is none. The default is evaluated only if needed. */
  Select: {
    /** The value at a path, or the default if there is none. The default is evaluated only if needed. */
    <O, const P extends Step | readonly Step[], D extends Arg = never>(
      path: (P & Leads<O, P, D>) | Suggested<O>,
      from: Expr<O>,
      otherwise?: D,
    ): Returns<M, At<O, P> | Literally<D>>;
    /** The value at a path, or the default if there is none. The default is evaluated only if needed. */
    <T = never, A extends Arg = Arg, const P extends Arg = Arg, D extends Otherwise = Otherwise>(
      path: P & (D extends readonly [] ? Leads<Evaluated<A>, P, never> : unknown),
      from: A,
      ...otherwise: D
    ): Returns<M, [T] extends [never] ? At<Evaluated<A>, P> | Literally<D[number]> : T>;
  };
  /**
   * All values at a path as one flat array. An array along the path is followed into each of its elements.
   * @deprecated
   */
  SelectAll: <T = unknown>(path: Arg, from: Arg) => Returns<M, T[]>;
  /**
   * The old name of `contains_path`.
   * @deprecated in favour of `ContainsPath`
   */
  Contains: (path: Arg, value: Arg) => Returns<M, boolean>;
  /** Whether there is a value at a path. */
  ContainsPath: (path: Arg, value: Arg) => Returns<M, boolean>;
  /** Whether an object has a member of this name. */
  ContainsField: (field: Arg, object: Arg) => Returns<M, boolean>;
  /** Whether an array, object, page, document, ref or set contains this value. */
  ContainsValue: (value: Arg, container: Arg) => Returns<M, boolean>;
}

export interface Writing<M extends Mode> {
  /** Creates a document: in a collection with a new id, or at a ref with the id of the ref. */
  Create: <T = never, A extends Arg = Arg>(
    collection: A,
    params?: Params<DataOf<A>>,
  ) => Returns<M, StoredDocument<DataAt<T, A>>>;
  /** Merges members into a document at every depth. Null removes a member; arrays are replaced as a whole. */
  Update: <T = never, A extends Arg = Arg>(
    ref: A & NoSetOrDocument<A>,
    params: Changes<DataOf<A>>,
  ) => Returns<M, StoredDocument<DataAt<T, A>>>;
  /** Replaces all members of a document. */
  Replace: <T = never, A extends Arg = Arg>(
    ref: A & NoSetOrDocument<A>,
    params: Params<DataOf<A>>,
  ) => Returns<M, StoredDocument<DataAt<T, A>>>;
  /** Deletes a document and returns it as it was. */
  Delete: <T = never, A extends Arg = Arg>(
    ref: A & NoSetOrDocument<A>,
  ) => Returns<M, StoredDocument<DataAt<T, A>>>;
  /** Inserts an event into the history of a document. */
  Insert: <T = unknown>(ref: Arg, ts: Arg, action: Arg, params: Arg) => Returns<M, T>;
  /** Removes an event from the history of a document. Removing an event that does not exist is not an error. */
  Remove: (ref: Arg, ts: Arg, action: Arg) => Returns<M, null>;
  /**
   * The old name of `create_collection`.
   * @deprecated in favour of `CreateCollection`
   */
  CreateClass: Made<M, CollectionParams, Data>;
  /** Creates a collection. */
  CreateCollection: Made<M, CollectionParams>;
  /** Creates a child database. */
  CreateDatabase: Made<M, DatabaseParams>;
  /**
   * Creates an index of one or several collections. `terms` are the fields to search by; `values` are the fields it returns and sorts by.
   */
  CreateIndex: Made<M, IndexParams, SchemaDocument & { active: boolean }>;
  /** Creates a key with a role. Only this answer contains the secret of the key. */
  CreateKey: Made<M, KeyParams, KeyDocument>;
  /** Creates a stored function. With a `role` it runs with the permissions of that role. */
  CreateFunction: Made<M, FunctionParams>;
  /**
   * Creates a role: its privileges and who its members are. What it names is governed by roles alone: `permissions` no longer apply there.
   */
  CreateRole: Made<M, RoleParams>;
  /** Creates an access provider: an identity provider whose signed tokens (JWT) are accepted as secrets. */
  CreateAccessProvider: Made<M, AccessProviderParams>;
  /** Moves a database, with everything in it, under another parent. */
  MoveDatabase: (database: Arg, parent: Arg) => Returns<M, unknown>;
}

type Algebra<M extends Mode> = <A extends readonly Arg[]>(
  ...operands: Some<A>
) => Returns<M, Combined<FirstOf<A>>>;

/** Operands: the arguments, or the elements of the only one if it is an array. */
type OperandOf<A extends readonly unknown[]> = A extends readonly [infer Only]
  ? Evaluated<Only> extends readonly (infer Operand)[]
    ? Operand
    : Evaluated<Only>
  : Evaluated<A[number]>;
type FirstOf<A extends readonly unknown[]> = A extends readonly [unknown]
  ? OperandOf<A>
  : A extends readonly [infer First, ...unknown[]]
    ? Evaluated<First>
    : Evaluated<A[number]>;
/** Type of the set or array that consists of elements of these operands. */
type Combined<Operand> = [Operand] extends [never]
  ? SetRef
  : [Operand] extends [readonly (infer T)[]]
    ? T[]
    : [Operand] extends [SetRef<infer T>]
      ? SetRef<T>
      : SetRef;

export interface Sets<M extends Mode> {
  /** The set of one document, while it exists. */
  Singleton: <A extends Arg>(ref: A) => Returns<M, SetRef<RefIn<Evaluated<A>>>>;
  /** The history of a document or set, as a set of events. */
  Events: (refOrSet: Arg) => Returns<M, SetRef<HistoryEvent>>;
  /** The entries of an index with exactly these terms. A wrong number of terms matches nothing. */
  Match: <T = unknown>(index: Arg, ...terms: Arg[]) => Returns<M, SetRef<T>>;
  /** The elements of any operand. A repeated element occurs as often as in the operand that has it most often. */
  Union: <A extends readonly Arg[]>(...operands: Some<A>) => Returns<M, Combined<OperandOf<A>>>;
  /** The elements that all operands have. */
  Intersection: Algebra<M>;
  /** The elements of the first operand that no other operand has. */
  Difference: Algebra<M>;
  /**
   * Maps each element of a set to another set and merges these in order. The other set is the result of a lambda, or the entries of an
   * index whose terms are the values of the element.
   */
  Join: {
    /**
     * Maps each element of a set to another set and merges these in order. The other set is the result of a lambda, or the entries of an
     * index whose terms are the values of the element.
     */
    <S, T>(
      source: Expr<SetRef<S>>,
      target: (element: Expr<S>) => Expr<SetRef<T>>,
    ): Returns<M, SetRef<T>>;
    /**
     * Maps each element of a set to another set and merges these in order. The other set is the result of a lambda, or the entries of an
     * index whose terms are the values of the element.
     */
    <T = unknown>(
      source: Arg,
      target: Expr | ((...variables: Expr<never>[]) => Expr<SetRef<T>>),
    ): Returns<M, SetRef<T>>;
  };
  /** The entries of a set between two bounds, both inclusive. A bound is a prefix of a tuple; `[]` is unbounded. */
  Range: <A extends Arg>(set: A, from: Arg, to: Arg) => Returns<M, Evaluated<A>>;
  /** All documents of a collection. */
  Documents: {
    /** All documents of a collection. */
    <T>(collection: Expr<CollectionRef<T>>): Returns<M, SetRef<Member<T>>>;
    /** All documents of a collection. */
    <A extends Arg>(collection: A & NoName<A>): Returns<M, SetRef<Ref>>;
  };
  /**
   * Merges objects, one level deep; later ones win. A lambda of `(key, left, right)` can choose the value instead. A member that becomes
   * null is removed.
   */
  Merge: {
    /**
     * Merges objects, one level deep; later ones win. A lambda of `(key, left, right)` can choose the value instead. A member that becomes
     * null is removed.
     */
    <A extends Arg, B extends Arg>(
      object: A,
      other: B,
    ): Returns<M, Merged<Evaluated<A>, Evaluated<B>>>;
    /**
     * Merges objects, one level deep; later ones win. A lambda of `(key, left, right)` can choose the value instead. A member that becomes
     * null is removed.
     */
    <T = Data>(object: Arg, others: Arg, resolver?: Lambda): Returns<M, T>;
  };
}

type Member<T> = unknown extends T ? Ref : DocumentRef<T>;
type RefIn<T> = [T] extends [never] ? Ref : T extends Ref ? T : Ref;

/** `Data` unless both are objects with known members. The last step shows the members in an editor instead of the names of these types. */
type Merged<A, B> = [A] extends [never]
  ? Data
  : [B] extends [readonly unknown[]]
    ? Data
    : Omit<A, keyof B> & Replaced<A, B> extends infer Both
      ? { [K in keyof Both]: Both[K] }
      : never;
/** Members of `B`. Null removes a member; one that may be null or absent may remove it or leave it as it is. */
type Replaced<A, B> = {
  [K in keyof B as [Extract<B[K], null | undefined>] extends [never] ? K : never]: B[K];
} & {
  [
    K in keyof B as [Extract<B[K], null | undefined>] extends [never]
      ? never
      : [B[K]] extends [null]
        ? never
        : K
  ]?: NonNullable<B[K]> | (K extends keyof A ? A[K] : never);
};

export interface Identities<M extends Mode> {
  /** Creates a token for the user at a ref or set, if the password is correct. Only this answer contains the secret of the token. */
  Login: <A extends Arg>(user: A & NoDocument<A>, params: LoginParams) => Returns<M, Token>;
  /** Revokes the token of the caller; with `true`, all tokens of the user. Returns false if the caller has no token. */
  Logout: (all: Arg) => Returns<M, boolean>;
  /** Whether a password is the user’s password. */
  Identify: (user: Arg, password: Arg) => Returns<M, boolean>;
  /**
   * The old name of `current_identity`.
   * @deprecated in favour of `CurrentIdentity`
   */
  Identity: Nullary<M, Ref>;
  /** The user who is the caller. */
  CurrentIdentity: Nullary<M, Ref>;
  /**
   * The old name of `has_current_identity`.
   * @deprecated in favour of `HasCurrentIdentity`
   */
  HasIdentity: Nullary<M, boolean>;
  /** Whether the caller is a user. */
  HasCurrentIdentity: Nullary<M, boolean>;
  /** The token or key of the caller; for a signed token (JWT), its claims. */
  CurrentToken: Nullary<M, Ref>;
  /** Whether the caller has a token or key, so that `current_token` succeeds. */
  HasCurrentToken: Nullary<M, boolean>;
}

export interface Refs<M extends Mode> {
  /**
   * The old name of `new_id`.
   * @deprecated in favour of `NewId`
   */
  NextId: Nullary<M, string>;
  /** A new document id, to refer to a document before it is created. */
  NewId: Nullary<M, string>;
  /** The ref of the child database with this name. */
  Database: NamedRef<M>;
  /** The ref of the index with this name. */
  Index: NamedRef<M>;
  /**
   * The old name of `collection`.
   * @deprecated in favour of `Collection`
   */
  Class: NamedRef<M>;
  /** The ref of the collection with this name. */
  Collection: {
    /** The ref of the collection with this name. */
    (name: Arg, scope?: Arg): Returns<M, Ref>;
    /** The ref of the collection with this name. With a document type, refs, sets and documents derived from the collection have that type: `q.Collection<Note>('notes')`. */
    <T>(name: Arg, scope?: Arg): Returns<M, CollectionRef<T>>;
  };
  /** The ref of the stored function with this name. */
  Function: NamedRef<M>;
  /** The ref of the role with this name. */
  Role: NamedRef<M>;
  /** The ref of the access provider with this name. A name that does not exist also gives a ref, which can be returned and compared. */
  AccessProvider: (name: Arg) => Returns<M, Ref>;
  /** All access providers. */
  AccessProviders: NativeRef<M>;
  /**
   * The old name of `collections`.
   * @deprecated in favour of `Collections`
   */
  Classes: NativeRef<M>;
  /** All collections. */
  Collections: NativeRef<M>;
  /** All child databases. */
  Databases: NativeRef<M>;
  /** All indexes. */
  Indexes: NativeRef<M>;
  /** All stored functions. */
  Functions: NativeRef<M>;
  /** All roles. */
  Roles: NativeRef<M>;
  /** All keys of this database. A key is a document of the database it opens. */
  Keys: NativeRef<M>;
  /** All tokens. */
  Tokens: NativeRef<M>;
  /** All credentials. */
  Credentials: NativeRef<M>;
}
