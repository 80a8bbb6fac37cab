/** Documents, pages and events as results, and refs that know what they lead to. */
import type { Expr, FaunaTime, Ref, SetRef } from '../values.ts';
import type { Arg, Changed, Evaluated, Written } from './arguments.ts';

declare const data: unique symbol;
declare const members: unique symbol;

export type Data = Record<string, unknown>;

/** A ref to a document whose `data` is a `T`. Any `Ref` may stand for one. */
export interface DocumentRef<T = Data> extends Ref {
  readonly [data]?: T;
}

/** A ref to a collection of such documents: `q.Collection<Note>('notes')`. */
export interface CollectionRef<T = Data> extends Ref {
  readonly [members]?: T;
}

export interface StoredDocument<T = Data> {
  ref: DocumentRef<T>;
  /** Microseconds since 1970. */
  ts: number;
  data: T;
  /** When it expires. */
  ttl?: FaunaTime;
}

/** A collection, index, function, role or database, as its document shows it. */
export interface SchemaDocument {
  ref: Ref;
  ts: number;
  name: string;
  [member: string]: unknown;
}

/** What `CreateKey` gives. */
export interface KeyDocument {
  ref: Ref;
  ts: number;
  /** Opens the database with the role. Shown this once. */
  secret: string;
  hashed_secret: string;
  role?: unknown;
  name?: string;
  database?: Ref;
  priority?: number;
  ttl?: FaunaTime;
  data?: Data;
}

/** What `Login` and `Create(Tokens(), …)` give. */
export interface Token {
  ref: Ref;
  ts: number;
  instance: Ref;
  /** Opens the database as the user. Shown this once. */
  secret: string;
  ttl?: FaunaTime;
  data?: Data;
}

export interface Page<T = unknown> {
  /** Cursor of the page before; absent when there is none. */
  before?: Arg;
  /** Cursor of the next page; absent when there is none. */
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

/** Options of `Paginate`: part of its form, so a literal object, whose members may be expressions. */
export interface PaginateOptions {
  size?: Arg;
  /** Cursors of a page may be absent: then it is the first page. */
  after?: Arg | undefined;
  before?: Arg | undefined;
  cursor?: Arg | undefined;
  ts?: Arg;
  events?: Arg;
  sources?: Arg;
}

/** What a page of elements `T` holds with these options. */
export type Shown<T, O> = O extends { readonly events: true }
  ? HistoryEvent
  : O extends { readonly sources: true }
    ? Sourced<T>
    : T;

/** Unknown is what a ref without a type leads to: then it is `Data`. */
type Known<T> = unknown extends T ? Data : T;

/** `data` of the document that an argument leads to: of a ref, of a collection's documents, of a set's first. */
export type DataOf<A> = A extends Ref ? DataOfRef<A> : DataOfValue<Evaluated<A>>;

// A Ref is tried first: it has all that a SetRef has.
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

/** What a document has beside `data`. A misspelt member would be dropped, and what is in it. */
interface Beside {
  readonly ttl?: Arg | undefined;
  readonly credentials?: Expr | null | Credentials | undefined;
  readonly permissions?: Arg | undefined;
  readonly constraints?: Arg | undefined;
}

interface Credentials {
  readonly password?: Arg;
  readonly hashed_password?: Arg;
}

/** Parameters of a new document. */
export type Params<T> = Data extends T
  ? Arg
  : Expr | (Beside & { readonly data?: Written<T> | Expr });

/** Parameters that change a document. */
export type Changes<T> = Data extends T
  ? Arg
  : Expr | (Beside & { readonly data?: Changed<T> | Expr });

/** Parameters of `Login`. */
export type LoginParams =
  | Expr
  | { readonly password: Arg; readonly ttl?: Arg | undefined; readonly data?: Arg | undefined };
