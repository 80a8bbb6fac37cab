/** Types of documents, pages and events in results, and of refs that know the type of their document. */
import type { ExprLike, FaunaTime, Ref, SetRef } from '../values.ts';
import type { Arg, Changed, Evaluated, Written } from './arguments.ts';

declare const data: unique symbol;
declare const members: unique symbol;

export type Data = Record<string, unknown>;

/** A ref to a document whose `data` is a `T`. Any `Ref` can be assigned to it. */
export interface DocumentRef<T = Data> extends Ref {
  readonly [data]?: T;
}

/** A ref to a collection whose documents have a `T` as `data`: `q.Collection<Note>('notes')`. */
export interface CollectionRef<T = Data> extends Ref {
  readonly [members]?: T;
}

export interface StoredDocument<T = Data> {
  ref: DocumentRef<T>;
  /** Microseconds since 1970. */
  ts: number;
  data: T;
  /** When the document expires. */
  ttl?: FaunaTime;
}

/** The document of a collection, index, function, role or database. */
export interface SchemaDocument {
  ref: Ref;
  ts: number;
  name: string;
  [member: string]: unknown;
}

/** Result of `CreateKey`. */
export interface KeyDocument {
  ref: Ref;
  ts: number;
  /** Gives access to the database with the key's role. It cannot be read again later. */
  secret: string;
  hashed_secret: string;
  role?: unknown;
  name?: string;
  database?: Ref;
  priority?: number;
  ttl?: FaunaTime;
  data?: Data;
}

/** Result of `Login` and `Create(Tokens(), …)`. */
export interface Token {
  ref: Ref;
  ts: number;
  instance: Ref;
  /** Gives access to the database as the user. It cannot be read again later. */
  secret: string;
  ttl?: FaunaTime;
  data?: Data;
}

export interface Page<T = unknown> {
  /** Cursor of the previous page; absent if there is none. */
  before?: Arg;
  /** Cursor of the next page; absent if there is none. */
  after?: Arg;
  data: T[];
}

/** An element of a page of the history of a document or set. */
export interface HistoryEvent {
  /** Microseconds since 1970. */
  ts: number;
  action: 'create' | 'update' | 'delete' | 'add' | 'remove';
  document: Ref;
  data?: unknown;
}

/** An element of a page with `sources: true`. */
export interface Sourced<T> {
  value: T;
  sources: SetRef[];
}

/** Options of `Paginate`. They are part of its wire form, so they must be an object literal; its members may be expressions. */
export interface PaginateOptions {
  size?: Arg;
  /** Cursors may be undefined, because those of a `Page` may be absent: the first page is read then. */
  after?: Arg | undefined;
  before?: Arg | undefined;
  cursor?: Arg | undefined;
  ts?: Arg;
  events?: Arg;
  sources?: Arg;
}

/** Type of the elements on a page of a set of `T` with these options. */
export type Shown<T, O> = O extends { readonly events: true }
  ? HistoryEvent
  : O extends { readonly sources: true }
    ? Sourced<T>
    : T;

/** `Data` if the document type is unknown, as for a ref without a type. */
type Known<T> = unknown extends T ? Data : T;

/**
 * Type of `data` in the document that an argument leads to: the document of a ref, the documents of a collection, or the first of a set.
 */
export type DataOf<A> = A extends Ref ? DataOfRef<A> : DataOfValue<Evaluated<A>>;

// `Ref` must be tested before `SetRef`: a Ref has all members of a SetRef, so it would match that too.
type DataOfValue<V> = [V] extends [never]
  ? Data
  : V extends Ref
    ? DataOfRef<V>
    : V extends SetRef<infer Element>
      ? Element extends Ref
        ? DataOfRef<Element>
        : Data
      : Data;

type DataOfRef<R extends Ref> =
  R extends DocumentRef<infer T> ? (unknown extends T ? MembersOf<R> : T) : Data;
type MembersOf<R> = R extends CollectionRef<infer T> ? Known<T> : Data;

/** Members of a document beside `data`. They are listed because a misspelt member would be dropped together with its value. */
interface Beside {
  readonly ttl?: Arg | undefined;
  readonly credentials?: ExprLike | null | Credentials | undefined;
  readonly permissions?: Arg | undefined;
  readonly constraints?: Arg | undefined;
}

/** What an editor suggests for a document of an unknown type. */
interface Members extends Beside {
  readonly data?: Arg;
}

interface Credentials {
  readonly password?: Arg;
  readonly hashed_password?: Arg;
}

/** Parameters of a new document. */
export type Params<T> = Data extends T
  ? Arg | Members
  : ExprLike | (Beside & { readonly data?: Written<T> | ExprLike });

/** Parameters that change a document. */
export type Changes<T> = Data extends T
  ? Arg | Members
  : ExprLike | (Beside & { readonly data?: Changed<T> | ExprLike });

/** Parameters of `Login`. */
export type LoginParams =
  | ExprLike
  | { readonly password: Arg; readonly ttl?: Arg | undefined; readonly data?: Arg | undefined };
