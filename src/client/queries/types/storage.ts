/** Types of the builders for reading, writing, sets, refs and identities. */
import type { Expr, Ref, SetRef } from '../values.ts';
import type { Arg, Evaluated, Lambda, Literally } from './arguments.ts';
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
  /** The document at a ref, or at the first entry of a set. */
  Get: <T = never, A extends Arg = Arg>(ref: A, ts?: Arg) => Expr<DocumentAt<T, A>>;
  /** The key or token with this secret. */
  KeyFromSecret: Unary<Data>;
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
    ): Expr<Page<Shown<T, O>>>;
    /**
     * One page of a set, 64 elements by default, with cursors to the next and previous pages. `after` starts at a cursor, `before` ends
     * just before one; `events` returns the history, `sources` adds which set each element comes from.
     */
    <T = unknown>(set: Arg, options?: PaginateOptions): Expr<Page<T>>;
  };
  /** Whether the document exists, or the set has an element, and the caller may read it. */
  Exists: (ref: Arg, ts?: Arg) => Expr<boolean>;
  /** The value at a path, or the default if there is none. The default is evaluated only if needed. */
  Select: {
    /** The value at a path, or the default if there is none. The default is evaluated only if needed. */
    <O, const P extends Step | readonly Step[], D extends Arg = never>(
      path: P & Leads<O, P, D>,
      from: Expr<O>,
      otherwise?: D,
    ): Expr<At<O, P> | Literally<D>>;
    /** The value at a path, or the default if there is none. The default is evaluated only if needed. */
    <T = unknown, A extends Arg = Arg, const P extends Arg = Arg, D extends Otherwise = Otherwise>(
      path: P & (D extends readonly [] ? Leads<Evaluated<A>, P, never> : unknown),
      from: A,
      ...otherwise: D
    ): Expr<T>;
  };
  /**
   * All values at a path as one flat array. An array along the path is followed into each of its elements.
   * @deprecated
   */
  SelectAll: <T = unknown>(path: Arg, from: Arg) => Expr<T[]>;
  /**
   * The old name of `contains_path`.
   * @deprecated in favour of `ContainsPath`
   */
  Contains: Binary<boolean>;
  /** Whether there is a value at a path. */
  ContainsPath: Binary<boolean>;
  /** Whether an object has a member of this name. */
  ContainsField: Binary<boolean>;
  /** Whether an array, object, page, document, ref or set contains this value. */
  ContainsValue: Binary<boolean>;
}

export interface Writing {
  /** Creates a document: in a collection with a new id, or at a ref with the id of the ref. */
  Create: <T = never, A extends Arg = Arg>(
    collection: A,
    params?: Params<DataOf<A>>,
  ) => Expr<DocumentAt<T, A>>;
  /** Merges members into a document at every depth. Null removes a member; arrays are replaced as a whole. */
  Update: <T = never, A extends Arg = Arg>(
    ref: A,
    params: Changes<DataOf<A>>,
  ) => Expr<DocumentAt<T, A>>;
  /** Replaces all members of a document. */
  Replace: <T = never, A extends Arg = Arg>(
    ref: A,
    params: Params<DataOf<A>>,
  ) => Expr<DocumentAt<T, A>>;
  /** Deletes a document and returns it as it was. */
  Delete: <T = never, A extends Arg = Arg>(ref: A) => Expr<DocumentAt<T, A>>;
  /** Inserts an event into the history of a document. */
  Insert: <T = unknown>(ref: Arg, ts: Arg, action: Arg, params: Arg) => Expr<T>;
  /** Removes an event from the history of a document. Removing an event that does not exist is not an error. */
  Remove: (ref: Arg, ts: Arg, action: Arg) => Expr<null>;
  /**
   * The old name of `create_collection`.
   * @deprecated in favour of `CreateCollection`
   */
  CreateClass: Made<CollectionParams, Data>;
  /** Creates a collection. */
  CreateCollection: Made<CollectionParams>;
  /** Creates a child database. */
  CreateDatabase: Made<DatabaseParams>;
  /**
   * Creates an index of one or several collections. `terms` are the fields to search by; `values` are the fields it returns and sorts by.
   */
  CreateIndex: Made<IndexParams, SchemaDocument & { active: boolean }>;
  /** Creates a key with a role. Only this answer contains the secret of the key. */
  CreateKey: Made<KeyParams, KeyDocument>;
  /** Creates a stored function. With a `role` it runs with the permissions of that role. */
  CreateFunction: Made<FunctionParams>;
  /**
   * Creates a role: its privileges and who its members are. What it names is governed by roles alone: `permissions` no longer apply there.
   */
  CreateRole: Made<RoleParams>;
  /** Creates an access provider: an identity provider whose signed tokens (JWT) are accepted as secrets. */
  CreateAccessProvider: Made<AccessProviderParams>;
  /** Moves a database, with everything in it, under another parent. */
  MoveDatabase: Binary<unknown>;
}

interface Algebra {
  <T>(...sets: [Expr<SetRef<T>>, ...Expr<SetRef<T>>[]]): Expr<SetRef<T>>;
  <T>(sets: readonly Expr<SetRef<T>>[]): Expr<SetRef<T>>;
  <T>(...arrays: [readonly T[], ...(readonly T[])[]]): Expr<Evaluated<T>[]>;
  (...collections: [Arg, ...Arg[]]): Expr<SetRef>;
}

export interface Sets {
  /** The set of one document, while it exists. */
  Singleton: Unary<SetRef<Ref>>;
  /** The history of a document or set, as a set of events. */
  Events: Unary<SetRef>;
  /** The entries of an index with exactly these terms. A wrong number of terms matches nothing. */
  Match: <T = unknown>(index: Arg, ...terms: Arg[]) => Expr<SetRef<T>>;
  /** The elements of any operand. A repeated element occurs as often as in the operand that has it most often. */
  Union: Algebra;
  /** The elements that all operands have. */
  Intersection: Algebra;
  /** The elements of the first operand that no other operand has. */
  Difference: Algebra;
  /**
   * Maps each element of a set to another set and merges these in order. The other set is the result of a lambda, or the entries of an
   * index whose terms are the values of the element.
   */
  Join: {
    /**
     * Maps each element of a set to another set and merges these in order. The other set is the result of a lambda, or the entries of an
     * index whose terms are the values of the element.
     */
    <S, T>(source: Expr<SetRef<S>>, target: (element: Expr<S>) => Expr<SetRef<T>>): Expr<SetRef<T>>;
    /**
     * Maps each element of a set to another set and merges these in order. The other set is the result of a lambda, or the entries of an
     * index whose terms are the values of the element.
     */
    <T = unknown>(
      source: Arg,
      target: Expr | ((...variables: Expr<never>[]) => Expr<SetRef<T>>),
    ): Expr<SetRef<T>>;
  };
  /** The entries of a set between two bounds, both inclusive. A bound is a prefix of a tuple; `[]` is unbounded. */
  Range: <A extends Arg>(set: A, from: Arg, to: Arg) => Expr<Evaluated<A>>;
  /** All documents of a collection. */
  Documents: {
    /** All documents of a collection. */
    <T>(collection: Expr<CollectionRef<T>>): Expr<SetRef<Member<T>>>;
    /** All documents of a collection. */
    (collection: Arg): Expr<SetRef<Ref>>;
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
    <A extends object, B extends object>(object: Expr<A>, other: Expr<B>): Expr<Merged<A, B>>;
    /**
     * Merges objects, one level deep; later ones win. A lambda of `(key, left, right)` can choose the value instead. A member that becomes
     * null is removed.
     */
    <T = Data>(object: Arg, others: Arg, resolver?: Lambda): Expr<T>;
  };
}

type Member<T> = unknown extends T ? Ref : DocumentRef<T>;
type Merged<A, B> = {
  [K in keyof A | keyof B]: K extends keyof B ? B[K] : K extends keyof A ? A[K] : never;
};

export interface Identities {
  /** Creates a token for the user at a ref or set, if the password is correct. Only this answer contains the secret of the token. */
  Login: (user: Arg, params: LoginParams) => Expr<Token>;
  /** Revokes the token of the caller; with `true`, all tokens of the user. Returns false if the caller has no token. */
  Logout: Unary<boolean>;
  /** Whether a password is the user’s password. */
  Identify: Binary<boolean>;
  /**
   * The old name of `current_identity`.
   * @deprecated in favour of `CurrentIdentity`
   */
  Identity: Nullary<Ref>;
  /** The user who is the caller. */
  CurrentIdentity: Nullary<Ref>;
  /**
   * The old name of `has_current_identity`.
   * @deprecated in favour of `HasCurrentIdentity`
   */
  HasIdentity: Nullary<boolean>;
  /** Whether the caller is a user. */
  HasCurrentIdentity: Nullary<boolean>;
  /** The token or key of the caller; for a signed token (JWT), its claims. */
  CurrentToken: Nullary<Ref>;
  /** Whether the caller has a token or key, so that `current_token` succeeds. */
  HasCurrentToken: Nullary<boolean>;
}

export interface Refs {
  /**
   * The old name of `new_id`.
   * @deprecated in favour of `NewId`
   */
  NextId: Nullary<string>;
  /** A new document id, to refer to a document before it is created. */
  NewId: Nullary<string>;
  /** The ref of the child database with this name. */
  Database: NamedRef;
  /** The ref of the index with this name. */
  Index: NamedRef;
  /**
   * The old name of `collection`.
   * @deprecated in favour of `Collection`
   */
  Class: NamedRef;
  /** The ref of the collection with this name. */
  Collection: {
    /** The ref of the collection with this name. */
    (name: Arg, scope?: Arg): Expr<Ref>;
    /** The ref of the collection with this name. With a document type, refs, sets and documents derived from the collection have that type: `q.Collection<Note>('notes')`. */
    <T>(name: Arg, scope?: Arg): Expr<CollectionRef<T>>;
  };
  /** The ref of the stored function with this name. */
  Function: NamedRef;
  /** The ref of the role with this name. */
  Role: NamedRef;
  /** The ref of the access provider with this name. A name that does not exist also gives a ref, which can be returned and compared. */
  AccessProvider: (name: Arg) => Expr<Ref>;
  /** All access providers. */
  AccessProviders: NativeRef;
  /**
   * The old name of `collections`.
   * @deprecated in favour of `Collections`
   */
  Classes: NativeRef;
  /** All collections. */
  Collections: NativeRef;
  /** All child databases. */
  Databases: NativeRef;
  /** All indexes. */
  Indexes: NativeRef;
  /** All stored functions. */
  Functions: NativeRef;
  /** All roles. */
  Roles: NativeRef;
  /** All keys of this database. A key is a document of the database it opens. */
  Keys: NativeRef;
  /** All tokens. */
  Tokens: NativeRef;
  /** All credentials. */
  Credentials: NativeRef;
}
