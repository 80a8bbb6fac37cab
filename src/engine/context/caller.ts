/** The authenticated caller of a query. */
import type { DatabaseId, Lambda, Micros, ObjectValue, Ref, Value } from '../../values/value.ts';
import type { Credential, CredentialLabel } from './host.ts';

export type BuiltinRole = 'admin' | 'server' | 'server-readonly' | 'client';

export interface Caller {
  readonly label: CredentialLabel;
  /** Where its queries run. */
  readonly database: DatabaseId;
  /** Names from the root of this store down to `database`. */
  readonly path: readonly string[];
  readonly role: Credential['role'];
  /** Roles given to the secret itself, in `database`. Those by membership of the identity come on top. */
  readonly roles: readonly Ref[];
  /** The key or token; none for the root secret. */
  readonly document: Ref | undefined;
  readonly identity: Ref | undefined;
  /** A token from `login`, not a key acting as a document. */
  readonly isToken: boolean;
  /** Whether it may read the document of its identity when no role says so. */
  readonly readsOwnDocument?: boolean;
  /** Of a token of an identity provider. */
  readonly grant?: AccessGrant | undefined;
}

/** The holder of the root secret, or the engine at its own work. */
export const rootCaller = (database: DatabaseId): Caller => ({
  label: { kind: 'root', id: '0' },
  database,
  path: [],
  role: 'admin',
  roles: [],
  document: undefined,
  identity: undefined,
  isToken: false,
});

export interface AccessGrant {
  readonly claims: ObjectValue;
  /** When the token ends. */
  readonly until: Micros;
  /** Roles beside those of the caller, for whose predicates the claims are the argument. */
  readonly conditional: readonly { readonly role: Ref; readonly predicate: Lambda }[];
}

const BUILTIN: ReadonlySet<string> = new Set(['admin', 'server', 'server-readonly', 'client']);
export const isBuiltinRole = (role: Value | undefined): role is BuiltinRole =>
  typeof role === 'string' && BUILTIN.has(role);
