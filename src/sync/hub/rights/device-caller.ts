/** The caller of a request of a device, and its permissions. Determined again in every transaction, by the hub's clock. */
import type { EngineOptions } from '../../../engine/host.ts';
import type { BodyInput } from '../../../engine/transactions.ts';
import {
  authenticate,
  authenticationContext,
  permissionsOf,
  isAuthorized,
} from '../../../engine/access.ts';
import type { Caller, EngineContext } from '../../../engine/context.ts';
import { type EngineSession, internalSession } from '../../../engine/session.ts';
import { schemasOver } from '../../../engine/catalog.ts';
import { LIMITS } from '../../../limits.ts';
import type { Reader } from '../../../store/reader.ts';
import type { Micros } from '../../../values/value.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import { isRevoked } from './revoked-token.ts';

export type CallerHost = Pick<
  EngineOptions,
  'clock' | 'random' | 'sha256' | 'rootSecret' | 'accessTokens' | 'ownDocument'
>;

export interface DeviceCaller {
  readonly caller: Caller;
  readonly context: EngineContext;
  readonly session: EngineSession;
  /** The same caller, reading other data. */
  over(reader: Reader): DeviceCaller;
}

/** A request of a device. The same for all transactions of the request. */
export interface DeviceRequest {
  readonly secret: string;
  /** Time of arrival, µs. */
  readonly started: Micros;
}

/**
 * @param reader the data that the caller reads
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
    return { caller, context: session.context, session, over };
  };
  const found = over(reader);
  if (isAuthorized(found.context, caller)) return found;
  throw refusalOf(secret, snapshot, input, host);
}

function authenticated(
  secret: string,
  snapshot: Micros,
  { writer, answers }: BodyInput,
  host: CallerHost,
): Caller | undefined {
  const store = { reader: writer, snapshot, schema: schemasOver(writer, writer) };
  return authenticate(authenticationContext(store, host, answers), secret);
}

function sessionOver(
  reader: Reader,
  caller: Caller,
  snapshot: Micros,
  { answers }: BodyInput,
  host: CallerHost,
): EngineSession {
  const schema = schemasOver(reader, reader);
  const permissionsIn = (context: EngineContext) => permissionsOf(context, caller);
  const parts = { reader, writer: undefined, snapshot, caller, schema };
  return internalSession(parts, permissionsIn, answers, host, LIMITS.queryTimeoutMaxMs);
}

const refusalOf = (
  secret: string,
  snapshot: Micros,
  { writer }: BodyInput,
  host: CallerHost,
): SyncRefused =>
  isRevoked(secret, snapshot, writer, host)
    ? new SyncRefused('locked', 'The credential was revoked.')
    : new SyncRefused('needs_login', 'The credential is no longer valid. Log in again.');
