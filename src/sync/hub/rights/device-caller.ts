/** Who speaks for a device, and what they may do: decided again in every transaction, at the time of the hub. */
import type { EngineOptions } from '../../../engine/host.ts';
import type { BodyInput } from '../../../engine/transactions.ts';
import {
  authenticate,
  authenticationContext,
  permissionsOf,
  isGranted,
} from '../../../engine/access.ts';
import { type EngineContext, Budget, type Caller, Meters } from '../../../engine/context.ts';
import { EngineSession, createIds, RecordedInputs, lambdasOf } from '../../../engine/session.ts';
import { Schema } from '../../../engine/catalog.ts';
import { LIMITS } from '../../../limits.ts';
import type { Reader } from '../../../store/reader.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import { isWithdrawn } from './withdrawn-token.ts';

export type CallerHost = Pick<
  EngineOptions,
  'clock' | 'random' | 'sha256' | 'rootSecret' | 'accessTokens'
>;

export interface DeviceCaller {
  readonly caller: Caller;
  readonly context: EngineContext;
  readonly session: EngineSession;
  /** The same caller over other data. */
  over(reader: Reader): DeviceCaller;
}

/** A request of a device: the same for all its transactions. */
export interface DeviceRequest {
  readonly secret: string;
  /** When it came, µs. */
  readonly started: Micros;
}

/**
 * @param reader the data that the caller is to see
 * @throws Suspended, SyncRefused `needs_login`, `locked`
 */
export function callerOfDevice(
  { secret, started }: DeviceRequest,
  input: BodyInput,
  reader: Reader,
  host: CallerHost,
): DeviceCaller {
  const snapshot = Math.max(started, input.head);
  const caller = authenticated(secret, snapshot, input, host);
  if (!caller) throw refusalOf(secret, snapshot, input, host);
  const over = (data: Reader): DeviceCaller => {
    const session = sessionOver(data, caller, snapshot, input, host);
    return { caller, ...session, over };
  };
  const found = over(reader);
  if (isGranted(found.context, caller)) return found;
  throw refusalOf(secret, snapshot, input, host);
}

function authenticated(
  secret: string,
  snapshot: Micros,
  { writer, answers }: BodyInput,
  host: CallerHost,
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
  { clock, random, sha256 }: CallerHost,
): Pick<DeviceCaller, 'context' | 'session'> {
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

const refusalOf = (
  secret: string,
  snapshot: Micros,
  { writer }: BodyInput,
  host: CallerHost,
): SyncRefused =>
  isWithdrawn(secret, snapshot, writer, host)
    ? new SyncRefused('locked', 'The credential was revoked.')
    : new SyncRefused('needs_login', 'The credential is no longer valid. Log in again.');
