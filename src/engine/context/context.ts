/** What one query carries through every part of the engine. Created for each execution. */
import type { ApiVersion, ReadTime } from '../../query/session.ts';
import type { PasswordAttempt, Reader, Writer } from '../../store/reader.ts';
import type { DatabaseId, Lambda, Micros, Value } from '../../values/value.ts';
import type { EngineOptions } from './host.ts';
import type { Caller } from './caller.ts';
import type { Meters } from './meters.ts';
import type { Permissions } from './access-request.ts';
import type { Schema } from '../catalog/schema.ts';

/** Recorded inputs: the same in every execution of one query, in the order requested. */
export interface Inputs {
  /** A fresh document id: positive, later ones greater. */
  readonly newId: () => bigint;
  /** One that nobody has brought along with the query. */
  readonly newOwnId: () => bigint;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Of a write that may be executed again elsewhere: the token in use may be another one there. */
  readonly refuseLogout?: () => never;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  /** The audience that tokens of identity providers name for the root database. */
  readonly rootAudience: string | undefined;
  /** Whether the keys of such tokens may be published at an address that is not https. */
  readonly mayFetch: ((uri: string) => boolean) | undefined;
  /** @throws Suspended */
  readonly hash: (password: string) => string;
  /**
   * `hash` undefined: no such account; the same work, false.
   * @throws Suspended; Refusal `too many requests` after too many wrong ones
   */
  readonly verify: (
    password: string,
    hash: string | undefined,
    attempt: Omit<PasswordAttempt, 'address'>,
  ) => boolean;
}

/** Function values, which only the query room can read and apply; `apply` and `isolated` belong to one session. */
export interface Lambdas {
  /** Parses the inside of a stored `@query`. */
  readonly parse: (wire: string, apiVersion: string) => Lambda;
  /** All that its body may do, calls of functions included. */
  readonly effectOf: (lambda: Lambda) => 'pure' | 'read' | 'write';
  /** Applies a function of one argument, under an effect limit; it reads at `time`, the present unless given. @throws Suspended, QueryFailure */
  apply(lambda: Lambda, argument: Value, limit: 'pure' | 'read', time?: ReadTime): Value;
  /** Opens an isolated evaluation: other permissions, read-only, outside the limits and meters of the query. */
  isolated(parts: IsolatedParts): ApplyIsolated;
}

/** What an isolated evaluation has instead of the query's own. */
export interface IsolatedParts extends Partial<Pick<EngineContext, 'reader' | 'schema'>> {
  readonly permissions: Permissions;
  /** Whose names it uses. */
  readonly database: DatabaseId;
}

/** @throws Suspended, QueryFailure, Refusal */
export type ApplyIsolated = (lambda: Lambda, argument: Value) => Value;

/** Another context is enough to make one of. */
export type ContextParts = Omit<EngineContext, 'database' | 'permissions' | 'lambdas'>;

/** Permissions need the context: their predicates read. */
export type PermissionsIn = (context: EngineContext) => Permissions;

export interface EngineContext {
  /** The present: what is committed, and this query's own writes. The same object as `writer` when there is one. */
  readonly reader: Reader;
  readonly writer: Writer | undefined;
  /** The database the query runs in. */
  readonly database: DatabaseId;
  /** The present: expiry, permissions, and `Now()` unless `now` is set. */
  readonly snapshot: Micros;
  /** `Now()` of a query that was made elsewhere. */
  readonly now: Micros | undefined;
  /** Valid time of what this query writes: later than every commit before it, and than `snapshot`. */
  readonly commitTs: Micros;
  readonly apiVersion: ApiVersion;
  readonly caller: Caller;
  readonly inputs: Inputs;
  readonly meters: Meters;
  /** Schema of a database as it is now, this query's own changes included; `byName` look-ups ignore those. @throws Suspended */
  readonly schema: (database: DatabaseId) => Schema;
  /** Documents whose past this query has rewritten (`insert`, `remove`): keys. */
  readonly rewritten: Set<string>;
  /** Called when the query has been evaluated: what it leaves has to be valid, not each step on the way. @throws QueryFailure */
  readonly atEnd: (() => void)[];
  readonly lambdas: Lambdas;
  /** The caller's, or those of the role of the function being called. */
  readonly permissions: Permissions;
}

/** The only place where a context is made. */
export function createContext(
  parts: ContextParts,
  permissionsIn: PermissionsIn,
  lambdas: Lambdas,
): EngineContext {
  // Every member is written out, here and where parts are made: of a copy with more added to it, V8 makes a shape of its own each time.
  const context: Omit<EngineContext, 'permissions'> & { permissions: Permissions } = {
    reader: parts.reader,
    writer: parts.writer,
    database: parts.caller.database,
    snapshot: parts.snapshot,
    now: parts.now,
    commitTs: parts.commitTs,
    apiVersion: parts.apiVersion,
    caller: parts.caller,
    inputs: parts.inputs,
    meters: parts.meters,
    schema: parts.schema,
    rewritten: parts.rewritten,
    atEnd: parts.atEnd,
    lambdas,
    permissions: NOTHING_YET,
  };
  context.permissions = permissionsIn(context);
  return context;
}

const NOTHING_YET: Permissions = { may: () => false };

/** What reading a document takes, also before the caller is authenticated. */
export type StoreContext = Pick<EngineContext, 'reader' | 'snapshot' | 'schema'>;

/** What authenticating a caller takes. */
export interface AuthenticationContext extends StoreContext {
  readonly lambdas: Pick<Lambdas, 'parse'>;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  readonly rootSecret: EngineOptions['rootSecret'];
  readonly rootAudience: string | undefined;
  readonly ownDocument: EngineOptions['ownDocument'];
  /** Whether a key published at the address has signed the token. @throws Suspended */
  readonly isSigned: (token: string, jwksUri: string) => boolean;
}
