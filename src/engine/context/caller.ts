/** The authenticated caller of a query. */
import type { DatabaseId, Lambda, Micros, ObjectValue, Ref, Value } from '../../values/value.ts';
import type { Credential, CredentialLabel } from './host.ts';

export type BuiltinRole = 'admin' | 'server' | 'server-readonly' | 'client';

export interface Caller {
  readonly label: CredentialLabel;
  /** The database in which the caller's queries run. */
  readonly database: DatabaseId;
  /** Names from the root of this store down to `database`. */
  readonly path: readonly string[];
  readonly role: Credential['role'];
  /** Roles given to the secret itself, in `database`. Roles by membership of the identity are not included. */
  readonly roles: readonly Ref[];
  /** The document of the key or token. Undefined for the root secret. */
  readonly document: Ref | undefined;
  readonly identity: Ref | undefined;
  /** The credential is a token, for example from `login`, not a key that acts as a document. */
  readonly isToken: boolean;
  /** Whether the caller may read its identity document although no role allows it. */
  readonly readsOwnDocument?: boolean;
  /** Set when the credential is a token of an identity provider. */
  readonly grant?: AccessGrant | undefined;
}

/** The holder of the root secret, or the engine itself during background work. */
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
  /** When the token expires. */
  readonly until: Micros;
  /** Additional roles, each held only if its predicate returns true for the claims. */
  readonly conditional: readonly { readonly role: Ref; readonly predicate: Lambda }[];
}

const BUILTIN: ReadonlySet<string> = new Set(['admin', 'server', 'server-readonly', 'client']);
export const isBuiltinRole = (role: Value | undefined): role is BuiltinRole =>
  typeof role === 'string' && BUILTIN.has(role);
