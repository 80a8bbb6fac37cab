/** Sync over HTTP: bodies are JSON, hints are server-sent events. Does not depend on Node. */
import { tryJson } from '../../src/codec/plain-json.ts';
import { Refusal } from '../../src/errors.ts';
import { secretOf } from '../../src/http/authorization.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import type { SyncHub } from '../../src/sync/hub/sync-hub.ts';
import { isRequestName, type RequestName } from '../../src/sync/protocol/messages.ts';
import {
  INVALID_JSON,
  isSyncRefusal,
  type SyncRefusal,
  type SyncRefusalCode,
} from '../../src/sync/protocol/refusals.ts';
import type { TextParts } from '../evaluators/text-parts.ts';
import type { HubRequest } from '../http/route.ts';
import { eventStream } from './event-stream.ts';
import { openFeed } from './hint-feed.ts';

export type SyncRequest = Pick<
  HubRequest,
  'method' | 'path' | 'headers' | 'body' | 'bodyParts' | 'signal'
>;

export interface SyncAnswerOptions {
  readonly sync: SyncHub;
  readonly heartbeatMs: number;
  /** Executes a push whose body arrived in parts. Not given if bodies never arrive in parts. */
  readonly longPush?: ((secret: string, parts: TextParts) => Promise<object>) | undefined;
  /**
   * Executes a pull or check elsewhere if it would delay others here. Undefined, as function or result, if it is to be executed
   * here.
   */
  readonly longRead?:
    | ((
        name: RequestName,
        secret: string,
        message: unknown,
      ) => Promise<Uint8Array | SyncRefusal> | undefined)
    | undefined;
  /** Makes the response with an answer. If not given, the answer is sent without compression. */
  readonly dress?: (
    body: string | Uint8Array,
    request: SyncRequest,
  ) => HttpResponse | Promise<HttpResponse>;
}

export const PREFIX = '/sync/';
export const PUSH_PATH = `${PREFIX}push`;

export async function answerSync(
  request: SyncRequest,
  { sync, heartbeatMs, longPush, longRead, dress = answerWith }: SyncAnswerOptions,
): Promise<HttpResponse> {
  const [path = '', search = ''] = request.path.split('?', 2);
  const name = path.slice(PREFIX.length);
  if (name !== 'events' && !isRequestName(name))
    throw new Refusal('not found', `There is nothing at ${path}.`);
  const method = name === 'events' ? 'GET' : 'POST';
  if (request.method !== method)
    throw new Refusal('method not allowed', `${path} takes ${method}, not ${request.method}.`);
  const secret = secretOf(request.headers['authorization']);
  if (secret === undefined) return refuseSync(NO_CREDENTIAL);
  if (name === 'events') {
    const device = new URLSearchParams(search).get('device') ?? '';
    const { signal } = request;
    const feed = await openFeed(sync, { secret, device, heartbeatMs, signal });
    return isSyncRefusal(feed)
      ? refuseSync(feed)
      : { status: 200, headers: EVENT_HEADERS, body: eventStream(feed) };
  }
  const { body, bodyParts } = request;
  const answer =
    longPush && bodyParts
      ? await longPush(secret, bodyParts)
      : await answerTo(tryJson(body), name, secret, { sync, longRead });
  if (answer instanceof Uint8Array) return dress(answer, request);
  return isSyncRefusal(answer) ? refuseSync(answer) : dress(JSON.stringify(answer), request);
}

async function answerTo(
  message: unknown,
  name: RequestName,
  secret: string,
  { sync, longRead }: Pick<SyncAnswerOptions, 'sync' | 'longRead'>,
): Promise<object> {
  if (message === undefined) return INVALID_JSON;
  return (await longRead?.(name, secret, message)) ?? sync[name](secret, message);
}

export const NO_CREDENTIAL: SyncRefusal = {
  code: 'needs_login',
  description: 'The request has no credential.',
};
const STATUS: Readonly<Partial<Record<string, number>>> = {
  upgrade_needed: 426,
  client_forked: 409,
  client_regressed: 409,
  gap: 409,
  epoch_changed: 409,
  device_taken: 409,
  device_expired: 409,
  too_many_devices: 403,
  needs_login: 401,
  locked: 403,
  bad_message: 400,
  file_not_found: 404,
  file_not_uploaded: 404,
  file_too_large: 413,
  storage_full: 507,
  no_files: 501,
} satisfies Record<SyncRefusalCode, number>;

const EVENT_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } as const;
export const SYNC_HEADERS = {
  'content-type': 'application/json;charset=utf-8',
  'cache-control': 'no-store',
} as const;

/** @param body JSON */
export const answerWith = (body: string | Uint8Array): HttpResponse => ({
  status: 200,
  headers: SYNC_HEADERS,
  ...(typeof body === 'string' ? { body } : { body: '', bytes: body }),
});

export const refuseSync = (refusal: SyncRefusal): HttpResponse => ({
  status: STATUS[refusal.code] ?? 400,
  headers: SYNC_HEADERS,
  body: JSON.stringify(refusal),
});
