/** What schema objects are made of. Described with examples in docs/schema.md. */
import type { Expr } from '../values.ts';
import type { RoleAction } from '../../../values/role-actions.ts';
import type { Arg } from './arguments.ts';

type OneOrMany<T> = T | readonly T[];

interface Named {
  readonly name: Arg;
  readonly data?: Arg;
}

/** Who has access without a role, by action: everyone with a secret, or tokens of a document or of a collection's documents. */
type Permissions<Action extends string> =
  | Expr
  | null
  | { readonly [A in Action]?: 'public' | Expr | null };

/** Parameters of `CreateCollection`. */
export interface CollectionParams extends Named {
  readonly history_days?: Arg;
  readonly ttl_days?: Arg;
  readonly permissions?: Permissions<'create' | 'read' | 'write'>;
}

/** Parameters of `CreateDatabase`. */
export interface DatabaseParams extends Named {
  readonly priority?: Arg;
  readonly container?: Arg;
  readonly protected?: Arg;
  readonly typechecked?: Arg;
}

/** What an index covers: collections, and values computed of their documents. */
export interface IndexSource {
  readonly collection?: OneOrMany<Expr> | '_';
  /** The old name of `collection`. */
  readonly class?: OneOrMany<Expr> | '_';
  /** Bindings: a pure function of the document for each name, `q.Query((doc) => …)`. */
  readonly fields?: OneOrMany<Readonly<Record<string, Expr>>>;
}

/** What documents have beside `data`. What is in `data` is named by a path: `['data', 'email']`. */
type FieldBeside = 'ref' | 'class' | 'ts' | 'ttl' | 'data';

/** What an index searches by: a field of the document, or a binding of its source. */
export interface IndexTerm {
  /** `['data', 'email']`, `'ref'`, `'ts'`. */
  readonly field?: Expr | FieldBeside | readonly (string | number)[];
  readonly binding?: Arg;
  readonly transform?: 'casefold' | Expr;
  /** False: an array or object is one value, not several. */
  readonly mva?: Arg;
}

/** What an index returns, and the order it sorts by. */
export interface IndexValue extends IndexTerm {
  /** No function: every array has one of this name, and would pass for a value, whatever is in it. */
  readonly reverse?: boolean | Expr | null;
}

/** Parameters of `CreateIndex`. */
export interface IndexParams extends Named {
  readonly source: OneOrMany<Expr | IndexSource> | '_';
  readonly terms?: Expr | null | OneOrMany<Expr | IndexTerm>;
  readonly values?: Expr | null | OneOrMany<Expr | IndexValue>;
  readonly unique?: Arg;
  readonly serialized?: Arg;
  readonly partitions?: Arg;
  readonly active?: Arg;
  readonly permissions?: Permissions<'read'>;
}

/** Parameters of `CreateFunction`. */
export interface FunctionParams extends Named {
  /** `q.Query((argument) => …)`. */
  readonly body: Expr;
  /** Whose permissions it has instead of the caller's: a builtin role, or a role of this database. */
  readonly role?: Arg;
  readonly permissions?: Permissions<'call'>;
}

/** What a role lets its members do with a collection, an index or a function. */
export interface Privilege {
  readonly resource: Expr;
  /** Allowed, or a predicate: `q.Query((ref) => …)`. */
  readonly actions?: Expr | { readonly [Action in RoleAction]?: boolean | Expr | null };
}

/** Whose tokens have a role: those of the documents of a collection, where the predicate is true. */
export interface Membership {
  readonly resource: Expr;
  /** `q.Query((ref) => …)`. */
  readonly predicate?: Expr;
}

/** Parameters of `CreateRole`. */
export interface RoleParams extends Named {
  readonly privileges?: Expr | null | OneOrMany<Expr | Privilege>;
  readonly membership?: Expr | null | OneOrMany<Expr | Membership>;
}

/** Parameters of `CreateKey`. */
export interface KeyParams {
  /** `admin`, `server`, `server-readonly`, `client`, or roles of the database. */
  readonly role: Arg;
  readonly name?: Arg;
  /** A direct child database that it opens, instead of this one. */
  readonly database?: Expr | null;
  readonly priority?: Arg;
  readonly data?: Arg;
  readonly ttl?: Arg;
}

/** Parameters of `CreateAccessProvider`. */
export interface AccessProviderParams extends Named {
  readonly issuer: Arg;
  readonly jwks_uri: Arg;
  readonly roles?: OneOrMany<Expr | { readonly role: Expr; readonly predicate?: Expr }>;
}
