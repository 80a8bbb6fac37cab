/** The context of one query, passed through every part of the engine. Each execution of the query creates a new one. */
import type { Sha256 } from '../../codec/sha256.ts';
import type { ApiVersion, ReadTime } from '../../query/session.ts';
import type { PasswordAttempt, Reader, Writer } from '../../store/reader.ts';
import type { DatabaseId, Lambda, Micros, Value } from '../../values/value.ts';
import type { EngineOptions } from './host.ts';
import type { Caller } from './caller.ts';
import type { Meters } from './meters.ts';
import type { Permissions } from './access-request.ts';
import type { Schema } from '../catalog/schema.ts';

/** Recorded inputs of one query. Each execution of the query gets the same values, in the order in which it asks for them. */
export interface Inputs {
  /** A new document id: positive, and greater than those before it. */
  readonly newId: () => bigint;
  /** A new id that is always generated here, also when the query came with ids of its own. */
  readonly newOwnId: () => bigint;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Set when something is first looked up by the commit time. It must not change after that: each execution would need other entries. */
  readonly lookedUp: { commitTs?: Micros };
  /** Of a write that may be executed again elsewhere: the token in use may be another one there. */
  readonly refuseLogout?: () => never;
  /**
   * Of a write whose ids may have been made elsewhere: checks the id of a new document before it is used. `mayChoose`: whether the caller
   * may create the document under an id of their choice.
   * @throws an error with which the query fails
   */
  readonly checkId?: (id: bigint, isFree: boolean, mayChoose: () => boolean) => void;
  readonly sha256: Sha256;
  /** The audience that tokens of identity providers name for the root database. */
  readonly rootAudience: string | undefined;
  /** Whether an identity provider may publish its keys at this address although it is not https. */
  readonly mayFetch: ((uri: string) => boolean) | undefined;
  /** @throws Suspended */
  readonly hash: (password: string) => string;
  /**
   * Whether the password matches the hash. If `hash` is undefined (no such account), the result is false after the same amount of work.
   * @throws Suspended; Refusal `too many requests` after too many wrong passwords
   */
  readonly verify: (
    password: string,
    hash: string | undefined,
    attempt: Omit<PasswordAttempt, 'address'>,
  ) => boolean;
}

/** Operations on function values (lambdas) that belong to one session. */
export interface Lambdas {
  /**
   * Applies a function of one argument, which may do no more than `limit`. It reads at `time`, by default the present.
   * @throws Suspended, QueryFailure
   */
  apply(lambda: Lambda, argument: Value, limit: 'pure' | 'read', time?: ReadTime): Value;
  /** Opens an isolated evaluation: read-only, with its own permissions, limits and meters. */
  isolated(parts: IsolatedParts): ApplyIsolated;
}

/** The parts of the context that an isolated evaluation replaces. */
export interface IsolatedParts extends Partial<Pick<EngineContext, 'reader' | 'schema'>> {
  readonly permissions: Permissions;
  /** The database in which names are resolved. */
  readonly database: DatabaseId;
}

/** @throws Suspended, QueryFailure, Refusal */
export type ApplyIsolated = (lambda: Lambda, argument: Value) => Value;

/** What a context is created from. An existing context qualifies, so a context can be derived from another. */
export type ContextParts = Omit<EngineContext, 'database' | 'permissions' | 'lambdas'>;

/** Creates the permissions of a context. They need the context because their predicates read documents. */
export type PermissionsIn = (context: EngineContext) => Permissions;

export interface EngineContext {
  /** Reads the present state: committed data and this query's own writes. It is the same object as `writer` if there is a writer. */
  readonly reader: Reader;
  readonly writer: Writer | undefined;
  readonly database: DatabaseId;
  /** The time of the present state: for expiry and permissions, and for `Now()` unless `now` is set. */
  readonly snapshot: Micros;
  /** `Now()` of a query that was made elsewhere, for example on a device. Undefined: `snapshot`. */
  readonly now: Micros | undefined;
  /** Valid time of the versions that this query writes: later than `snapshot` and all earlier commits. */
  readonly commitTs: Micros;
  readonly apiVersion: ApiVersion;
  readonly caller: Caller;
  readonly inputs: Inputs;
  readonly meters: Meters;
  /** The present schema of a database, with this query's own changes. Its `byName` ignores those changes. @throws Suspended */
  readonly schema: (database: DatabaseId) => Schema;
  /** Keys of the documents whose history this query has changed (with `insert` or `remove`). */
  readonly rewritten: Set<string>;
  /** Checks that run after the query has been evaluated, because only its final state must be valid. @throws QueryFailure */
  readonly atEnd: (() => void)[];
  readonly lambdas: Lambdas;
  /** The permissions of the caller, or those of the role of the user-defined function that is being called. */
  readonly permissions: Permissions;
}

/** The only place where a context is made. */
export function createContext(
  parts: ContextParts,
  permissionsIn: PermissionsIn,
  lambdas: Lambdas,
): EngineContext {
  // All members are listed, here and where `parts` is built: if members were added to a copy, V8 would create a new hidden class each time.
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

/** The part of the context that is needed to read documents. It exists before the caller is authenticated: then nothing is charged. */
export interface StoreContext
  extends
    Pick<EngineContext, 'reader' | 'snapshot' | 'schema'>,
    Partial<Pick<EngineContext, 'meters'>> {}

/** What is needed to authenticate a caller. */
export interface AuthenticationContext extends StoreContext {
  readonly sha256: Sha256;
  readonly rootSecret: EngineOptions['rootSecret'];
  readonly rootAudience: string | undefined;
  readonly ownDocument: EngineOptions['ownDocument'];
  /** Whether the token was signed with a key published at `jwksUri`. @throws Suspended */
  readonly isSigned: (token: string, jwksUri: string) => boolean;
}
