/** What a schema says of its documents, indexes and predicates, as types. */
import type {
  Arg,
  Builders,
  CollectionParams,
  CollectionRef,
  Data,
  DocumentRef,
  Expr,
  FunctionParams,
  IndexParams,
  Privilege,
  Ref,
  SetRef,
} from '../index.ts';

declare const terms: unique symbol;
declare const element: unique symbol;

/** A validator of any library that follows Standard Schema: only its type is used. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly types?: { readonly output: unknown } | undefined;
  };
}

export interface CollectionDefinition extends Omit<CollectionParams, 'name'> {
  /** Of `data` of its documents. It is not stored, and validates nothing. */
  readonly type?: StandardSchema;
}

export interface IndexDefinition<Name extends string = string> extends Omit<
  IndexParams,
  'name' | 'source' | 'active'
> {
  /** Names of collections of the schema, or what `CreateIndex` takes. */
  readonly source: Name | readonly Name[] | IndexParams['source'];
}

export type FunctionDefinition = Omit<FunctionParams, 'name'>;

export type Collections = Readonly<Record<string, CollectionDefinition>>;
export type Functions = Readonly<Record<string, FunctionDefinition>>;
export type NameIn<T> = keyof T & string;

/** `data` of the documents of a collection. */
export type DocumentOf<Collection> = Collection extends { readonly type: infer Type }
  ? Type extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly output: infer Output }
      ? Output
      : Data
    : Data
  : Data;

/** A ref to an index that knows what it searches by and what its sets hold. */
export interface IndexRef<Terms = unknown, Element = unknown> extends Ref {
  readonly [terms]?: Terms;
  readonly [element]?: Element;
}

/** `data` of the documents that an index covers. */
type Covered<C, Index> = Index extends { readonly source: infer Source }
  ? Source extends keyof C
    ? DocumentOf<C[Source]>
    : Source extends readonly (infer Each)[]
      ? Each extends keyof C
        ? DocumentOf<C[Each]>
        : Data
      : Data
  : Data;

/** The value at a path, null where it may be absent. */
type Found<O, Path> = Path extends readonly [infer K, ...infer Rest]
  ? K extends keyof NonNullable<O>
    ? Found<NonNullable<O>[K], Rest> | Nothing<O>
    : unknown
  : NonNullable<O> | Nothing<O>;
type Nothing<O> = null extends O ? null : undefined extends O ? null : never;

type FieldOf<T, Path> = Path extends 'ref' | readonly ['ref']
  ? DocumentRef<T>
  : Path extends 'ts' | readonly ['ts']
    ? number
    : Path extends readonly ['data', ...infer Rest]
      ? Found<T, Rest>
      : unknown;

/** What an index holds of a field: of an array each element, unless `mva` is false. */
type EntryOf<T, Part> = Part extends { readonly field: infer Path }
  ? Part extends { readonly mva: false }
    ? FieldOf<T, Path>
    : Elements<FieldOf<T, Path>>
  : unknown;
type Elements<V> = V extends readonly (infer Each)[] ? Each : V;

type Parts<P> = P extends readonly unknown[] ? P : [P];
type EntriesOf<T, P extends readonly unknown[]> = {
  -readonly [K in keyof P]: EntryOf<T, P[K]>;
};

/** What `Match` takes of an index. */
export type TermsOf<C, Index> = Index extends { readonly terms: infer P }
  ? EntriesOf<Covered<C, Index>, Parts<P>>
  : [];

/** What the pages of an index hold. */
export type ElementOf<C, Index> = Index extends { readonly values: infer P }
  ? EntriesOf<Covered<C, Index>, Parts<P>> extends infer Entries
    ? Entries extends readonly [infer Only]
      ? Only
      : Entries
    : never
  : DocumentRef<Covered<C, Index>>;

type Given<Terms> = Terms extends readonly unknown[]
  ? { [K in keyof Terms]: unknown extends Terms[K] ? Arg : Terms[K] | Expr<Terms[K]> }
  : Arg[];

/** The builders, with the names and types of a schema. */
export type SchemaBuilders<C, I> = Omit<Builders, 'Collection' | 'Index' | 'Match'> & {
  Collection: <Name extends NameIn<C>>(name: Name) => Expr<CollectionRef<DocumentOf<C[Name]>>>;
  Index: <Name extends NameIn<I>>(
    name: Name,
  ) => Expr<IndexRef<TermsOf<C, I[Name]>, ElementOf<C, I[Name]>>>;
  Match: <Terms, Element>(
    index: Expr<IndexRef<Terms, Element>>,
    ...terms: Given<Terms>
  ) => Expr<SetRef<Element>>;
};

type Action<Parameters extends readonly unknown[]> = boolean | ((...of: Parameters) => unknown);

/** A document as predicates of `write` get it. */
interface Written<T> {
  data: T;
}

interface CollectionActions<T> {
  readonly read?: Action<[ref: Expr<DocumentRef<T>>]>;
  readonly unrestricted_read?: boolean;
  readonly create?: Action<[params: Expr<Written<T>>]>;
  readonly create_with_id?: Action<[params: Expr<Written<T>>, ref: Expr<DocumentRef<T>>]>;
  readonly write?: Action<
    [before: Expr<Written<T>>, after: Expr<Written<T>>, ref: Expr<DocumentRef<T>>]
  >;
  readonly delete?: Action<[ref: Expr<DocumentRef<T>>]>;
  readonly history_read?: Action<[ref: Expr<DocumentRef<T>>]>;
  readonly history_write?: Action<
    [ref: Expr<DocumentRef<T>>, ts: Expr<number>, action: Expr<string>, data: Expr<Written<T>>]
  >;
}

interface IndexActions<Terms> {
  readonly read?: Action<[terms: Expr<Terms>]>;
  readonly unrestricted_read?: Action<[terms: Expr<Terms>]>;
}

/** A role. What its predicates are called with has the types of the schema. */
export interface RoleDefinition<C, I, F> {
  /** By the collection of users: all of them, or those of whom the predicate is true. */
  readonly membership?: {
    readonly [Name in NameIn<C>]?:
      | true
      | ((user: Expr<DocumentRef<DocumentOf<C[Name]>>>) => unknown);
  };
  readonly privileges?: {
    readonly collections?: {
      readonly [Name in NameIn<C>]?: CollectionActions<DocumentOf<C[Name]>>;
    };
    readonly indexes?: { readonly [Name in NameIn<I>]?: IndexActions<TermsOf<C, I[Name]>> };
    readonly functions?: {
      readonly [Name in NameIn<F>]?: { readonly call?: Action<[argument: Expr<never>]> };
    };
    /** Resources of other names, as `CreateRole` takes them. */
    readonly others?: readonly Privilege[];
  };
  readonly data?: Arg;
}
