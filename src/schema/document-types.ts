/** Types that a schema gives to documents, indexes and predicates. */
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

/** A validator of any library that follows Standard Schema. Only its type is used. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly types?: { readonly output: unknown } | undefined;
  };
}

export interface CollectionDefinition extends Omit<CollectionParams, 'name'> {
  /** The type of `data` in the collection's documents. It is not stored, and documents are not validated with it. */
  readonly type?: StandardSchema;
}

export interface IndexDefinition<Name extends string = string> extends Omit<
  IndexParams,
  'name' | 'source' | 'active'
> {
  /** Names of collections of the schema, or what `CreateIndex` accepts. */
  readonly source: Name | readonly Name[] | IndexParams['source'];
}

export type FunctionDefinition = Omit<FunctionParams, 'name'>;

export type Collections = Readonly<Record<string, CollectionDefinition>>;
export type Functions = Readonly<Record<string, FunctionDefinition>>;
export type NameIn<T> = keyof T & string;

/** The type of `data` in the documents of a collection. */
export type DocumentOf<Collection> = Collection extends { readonly type: infer Type }
  ? Type extends { readonly '~standard': { readonly types?: infer Types } }
    ? NonNullable<Types> extends { readonly output: infer Output }
      ? Output
      : Data
    : Data
  : Data;

/** A ref to an index that knows the types of its terms and of its sets' elements. */
export interface IndexRef<Terms = unknown, Element = unknown> extends Ref {
  readonly [terms]?: Terms;
  readonly [element]?: Element;
}

/** The type of `data` in the documents that an index covers. */
type Covered<C, Index> = Index extends { readonly source: infer Source }
  ? Source extends keyof C
    ? DocumentOf<C[Source]>
    : Source extends readonly (infer Each)[]
      ? Each extends keyof C
        ? DocumentOf<C[Each]>
        : Data
      : Data
  : Data;

/** The type of the value at a path, or null if it may be absent. */
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

/** The type of an index's entries for a field: for an array, that of its elements, unless `mva` is false. */
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

/** The types of the terms that `Match` accepts for an index. */
export type TermsOf<C, Index> = Index extends { readonly terms: infer P }
  ? EntriesOf<Covered<C, Index>, Parts<P>>
  : [];

/** The type of the elements on pages of an index. */
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
  /** The ref of a collection of the schema. Refs, sets and documents derived from it have the type of its documents. */
  Collection: <Name extends NameIn<C>>(name: Name) => Expr<CollectionRef<DocumentOf<C[Name]>>>;
  /** The ref of an index of the schema. It knows the types of its terms, and of its values. */
  Index: <Name extends NameIn<I>>(
    name: Name,
  ) => Expr<IndexRef<TermsOf<C, I[Name]>, ElementOf<C, I[Name]>>>;
  /** The entries of an index with exactly these terms. Terms and elements have the types of the schema. */
  Match: <Terms, Element>(
    index: Expr<IndexRef<Terms, Element>>,
    ...terms: Given<Terms>
  ) => Expr<SetRef<Element>>;
};

type Action<Parameters extends readonly unknown[]> = boolean | ((...of: Parameters) => unknown);

/** A document as it is passed to predicates of `write`. */
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

/** A role. The arguments of its predicates have the types of the schema. */
export interface RoleDefinition<C, I, F> {
  /** By collection of users: all its documents are members, or those for which the predicate is true. */
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
    /** Privileges on resources that are not in the schema, as `CreateRole` accepts them. */
    readonly others?: readonly Privilege[];
  };
  readonly data?: Arg;
}
