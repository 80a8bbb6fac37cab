/** Types of the parameters of schema objects. docs/schema.md describes them with examples. */
import type { Expr, ExprLike } from '../values.ts';
import type { RoleAction } from '../../../values/role-actions.ts';
import type { Arg } from './arguments.ts';

type OneOrMany<T> = T | readonly T[];

/** A role that every database has, or the name or ref of a role of the database. An editor suggests the former. */
type RoleOrName =
  | 'admin'
  | 'server'
  | 'server-readonly'
  | 'client'
  | (string & Record<never, never>)
  | Expr;

interface Named {
  readonly name: Arg;
  readonly data?: Arg;
}

/** Who may perform an action without a role: `'public'` is everyone with a secret; a ref is the tokens of a document or of a collection. */
type Permissions<Action extends string> =
  | ExprLike
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

/** What an index covers: collections, and values computed from their documents. */
export interface IndexSource {
  readonly collection?: OneOrMany<Expr> | '_';
  /** Old name of `collection`. */
  readonly class?: OneOrMany<Expr> | '_';
  /** Bindings: for each name, a pure function of the document, `q.Query((doc) => …)`. */
  readonly fields?: OneOrMany<Readonly<Record<string, Expr>>>;
}

/** Top-level fields of a document. A field in `data` is named by a path: `['data', 'email']`. */
type FieldBeside = 'ref' | 'class' | 'ts' | 'ttl' | 'data';

/** A value that an index is searched by: a field of the document, or a binding of its source. */
export interface IndexTerm {
  /** A field, such as `['data', 'email']`, `'ref'` or `'ts'`. */
  readonly field?: Expr | FieldBeside | readonly (string | number)[];
  readonly binding?: Arg;
  readonly transform?: 'casefold' | Expr;
  /** False: an array or object is indexed as one value, not as several. */
  readonly mva?: Arg;
}

/** A value that an index returns and by which it is sorted. */
export interface IndexValue extends IndexTerm {
  /** The type excludes functions: every array has a method of this name, so any array would be accepted as an index value. */
  readonly reverse?: boolean | Expr | null;
}

/** Parameters of `CreateIndex`. */
export interface IndexParams extends Named {
  readonly source: OneOrMany<ExprLike | IndexSource> | '_';
  readonly terms?: null | OneOrMany<ExprLike | IndexTerm>;
  readonly values?: null | OneOrMany<ExprLike | IndexValue>;
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
  /** The function runs with these permissions instead of the caller's: a built-in role, or a role of this database. */
  readonly role?: RoleOrName | null;
  readonly permissions?: Permissions<'call'>;
}

/** What a role allows its members to do with a collection, an index or a function. */
export interface Privilege {
  readonly resource: Expr;
  /** For each action, whether it is allowed, or a predicate: `q.Query((ref) => …)`. */
  readonly actions?: ExprLike | { readonly [Action in RoleAction]?: boolean | Expr | null };
}

/** Which tokens have a role: the tokens of a collection's documents for which the predicate is true. */
export interface Membership {
  readonly resource: Expr;
  /** `q.Query((ref) => …)`. */
  readonly predicate?: Expr;
}

/** Parameters of `CreateRole`. */
export interface RoleParams extends Named {
  readonly privileges?: null | OneOrMany<ExprLike | Privilege>;
  readonly membership?: null | OneOrMany<ExprLike | Membership>;
}

/** Parameters of `CreateKey`. */
export interface KeyParams {
  /** A built-in role, or roles of the database: `q.Role('author')` or `'author'`. A built-in role must stand alone. */
  readonly role: RoleOrName | readonly (string | Expr)[];
  readonly name?: Arg;
  /** A direct child database that the key gives access to, instead of this database. */
  readonly database?: Expr | null;
  readonly priority?: Arg;
  readonly data?: Arg;
  readonly ttl?: Arg;
}

/** Parameters of `CreateAccessProvider`. */
export interface AccessProviderParams extends Named {
  readonly issuer: Arg;
  readonly jwks_uri: Arg;
  readonly roles?: OneOrMany<ExprLike | { readonly role: Expr; readonly predicate?: Expr }>;
}
