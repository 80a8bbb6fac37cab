/** Who speaks for a device, and what they may: judged anew in every transaction, at the time of the hub. */
import { documentKey, historyKey } from '../../codec/key.ts';
import { unpackVersion } from '../../codec/row.ts';
import type { EngineOptions } from '../../engine/host.ts';
import type { BodyInput } from '../../engine/transactions.ts';
import {
  authenticate,
  authenticationContext,
  permissionsOf,
  isGranted,
  rolesOf,
  findCredentials,
  globalIdText,
  isSameText,
  parseSecret,
  secretHash,
} from '../../engine/access.ts';
import { type Caller, Budget, type EngineContext, Meters } from '../../engine/context.ts';
import {
  databaseByGlobalId,
  ROOT_DATABASE,
  type RoleDefinition,
  Schema,
} from '../../engine/catalog.ts';
import { fieldsOf, isExpired, liveVersion } from '../../engine/documents.ts';
import { createIds, RecordedInputs, EngineSession, lambdasOf } from '../../engine/session.ts';
import { LIMITS } from '../../limits.ts';
import type { Row } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import { Ref, type DatabaseId, type Micros } from '../../values/value.ts';
import { SyncRefused } from '../messages.ts';
import type { Actor } from '../protocol.ts';
import { NATIVE } from '../../values/native-kinds.ts';

export type AskerHost = Pick<
  EngineOptions,
  'clock' | 'random' | 'sha256' | 'rootSecret' | 'accessTokens'
>;

export interface Asker {
  readonly caller: Caller;
  readonly context: EngineContext;
  readonly session: EngineSession;
  /** The same caller, who sees something else. */
  over(reader: Reader): Asker;
}

/** What the runs of one exchange have in common. */
export interface Exchange {
  readonly secret: string;
  /** When it came, µs. */
  readonly started: Micros;
}

/**
 * @param reader what the caller is to see
 * @throws Suspended, SyncRefused `needs_login`, `locked`
 */
export function askerOf(
  { secret, started }: Exchange,
  input: BodyInput,
  reader: Reader,
  host: AskerHost,
): Asker {
  const snapshot = Math.max(started, input.head);
  const caller = callerOf(secret, snapshot, input, host) ?? refuse(secret, snapshot, input, host);
  const open = (seen: Reader): Asker => {
    const session = sessionOver(seen, caller, snapshot, input, host);
    return { caller, ...session, over: open };
  };
  const asker = open(reader);
  return isGranted(asker.context, caller) ? asker : refuse(secret, snapshot, input, host);
}

function callerOf(
  secret: string,
  snapshot: Micros,
  { writer, answers }: BodyInput,
  host: AskerHost,
): Caller | undefined {
  const lambdas = lambdasOf({});
  const store = { reader: writer, snapshot, schema: schemasOver(writer, lambdas) };
  return authenticate(authenticationContext(store, lambdas, host, answers), secret);
}

function schemasOver(
  reader: Reader,
  { parse }: Pick<EngineContext['lambdas'], 'parse'>,
): EngineContext['schema'] {
  const schemas = new Map<DatabaseId, Schema>();
  return (database) => {
    const known = schemas.get(database) ?? new Schema(database, reader, reader, parse);
    schemas.set(database, known);
    return known;
  };
}

function sessionOver(
  reader: Reader,
  caller: Caller,
  snapshot: Micros,
  { answers }: BodyInput,
  { clock, random, sha256 }: AskerHost,
): Pick<Asker, 'context' | 'session'> {
  const holder: { current?: EngineSession } = {};
  const lambdas = lambdasOf(holder);
  const context: EngineContext = {
    reader,
    writer: undefined,
    database: caller.database,
    snapshot,
    commitTs: snapshot + 1,
    apiVersion: '4',
    caller,
    permissions: { may: () => false },
    inputs: new RecordedInputs(createIds(clock, random), { random, sha256 }).begin(answers),
    lambdas,
    meters: new Meters(),
    schema: schemasOver(reader, lambdas),
    rewritten: new Set(),
  };
  context.permissions = permissionsOf(context, caller);
  const budget = new Budget(clock, snapshot, LIMITS.queryTimeoutMaxMs);
  const session = (holder.current = new EngineSession(context, budget));
  return { context, session };
}

/** Asked for in many places of one run; memberships are found out once. */
const knownRoles = new WeakMap<EngineContext, readonly RoleDefinition[]>();

/** @throws Suspended */
export function rolesInForce({ context, caller }: Asker): readonly RoleDefinition[] {
  if (caller.role !== 'roles') return [];
  const roles = knownRoles.get(context) ?? rolesOf(context, caller);
  knownRoles.set(context, roles);
  return roles;
}

/** @throws Suspended */
export function actorOf(asker: Asker): Actor {
  const { path, identity, role } = asker.caller;
  return {
    database: path,
    identity: identity && [identity.collection, String(identity.id)],
    role,
    roles: rolesInForce(asker).map(({ ref }) => String(ref.id)),
  };
}

/** When the credential ends, µs. @throws Suspended */
export function expiryOf({ caller, context }: Asker): Micros | undefined {
  const { document, grant } = caller;
  if (grant) {
    const seconds = grant.claims.get('exp');
    return seconds === undefined ? undefined : Math.floor(Number(seconds) * 1_000_000);
  }
  return document && liveVersion(context, document, 'present')?.version.ttl;
}

/** When the password of the identity was set last, µs. @throws Suspended */
export const passwordTimeOf = ({ caller, context }: Asker): Micros | undefined =>
  caller.identity && findCredentials(context, caller.identity)?.version.ts;

/** Whose device it is: another credential of the same one may speak for it. */
export function ownerOf({ identity, label, database, grant }: Caller): string {
  if (identity) return `document ${identity.database}/${identity.collection}/${identity.id}`;
  const subject = grant?.claims.get('sub');
  const who = typeof subject === 'string' ? ` ${subject}` : '';
  return `${label.kind} ${label.id}${who} in ${database}`;
}

function refuse(secret: string, snapshot: Micros, input: BodyInput, host: AskerHost): never {
  if (isWithdrawn(secret, snapshot, input.writer, host))
    throw new SyncRefused('locked', 'The credential was revoked.');
  throw new SyncRefused('needs_login', 'The credential is no longer valid. Log in again.');
}

/**
 * Whether a token was ended by somebody before its time, or its document is gone. Only its holder is told: whoever cannot prove that hears
 * what is said of any text.
 */
function isWithdrawn(
  text: string,
  snapshot: Micros,
  reader: Reader,
  { sha256 }: AskerHost,
): boolean {
  const secret = parseSecret(text.split(':', 1)[0] ?? '');
  if (secret?.kind !== 'token') return false;
  const { id, databaseGlobalId } = secret;
  const database =
    databaseGlobalId === 0n
      ? ROOT_DATABASE
      : databaseByGlobalId(reader, globalIdText(databaseGlobalId))?.id;
  if (database === undefined) return false;
  const key = documentKey(database, NATIVE.tokens, id);
  const current = reader.row({ space: 'documents', key });
  const [end, last] = current ? [undefined, current] : endOf(reader, database, id);
  if (!last) return false;
  const version = unpackVersion(String(last.value));
  if (isExpired(version, end ?? snapshot)) return false;
  const ref = new Ref(database, NATIVE.tokens, id);
  const fields = fieldsOf({ lambdas: lambdasOf({}) }, ref, version);
  const hash = fields.get('hashed_secret');
  return typeof hash === 'string' && isSameText(secretHash(secret.random, sha256), hash);
}

/** When a token was deleted, and its last version. */
function endOf(
  reader: Reader,
  database: DatabaseId,
  id: bigint,
): readonly [end: Micros | undefined, last: Row | undefined] {
  const [marker, last] = reader.range({
    space: 'history',
    by: 'key',
    lower: documentKey(database, NATIVE.tokens, id),
    upper: historyKey(database, NATIVE.tokens, id, Number.MAX_SAFE_INTEGER),
    reverse: true,
    limit: 2,
    rows: true,
  });
  const version = marker?.row && unpackVersion(String(marker.row.value));
  return version?.action === 'delete' ? [version.ts, last?.row] : [undefined, undefined];
}
