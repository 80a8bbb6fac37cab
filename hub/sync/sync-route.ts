/** Sync over HTTP: requests and responses are JSON, hints are server-sent events. A WebSocket can carry pushes and hints. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Refusal } from '../../src/errors.ts';
import { secretOf } from '../../src/http/authorization.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import { LIMITS, SYNC_LIMITS } from '../../src/limits.ts';
import { createSyncHub, type SyncHub } from '../../src/sync/hub/sync-hub.ts';
import { isRequestName, type RequestName } from '../../src/sync/protocol/messages.ts';
import {
  isSyncRefusal,
  type SyncRefusal,
  type SyncRefusalCode,
} from '../../src/sync/protocol/refusals.ts';
import type { HubRequest, HubRoute } from '../http/route.ts';
import { pause } from '../instance/hub-engine.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import { eventStream } from './event-stream.ts';
import { openFeed } from './open-feed.ts';
import { INVALID_JSON, NOT_JSON, parseMessage } from './parse-message.ts';
import { serveSyncSession } from './sync-websocket.ts';

export interface SyncRouteSettings {
  readonly queryTimeoutMs?: number;
  readonly heartbeatMs?: number;
}

export function createSyncRoute(
  hub: Pick<OpenedHub, 'engine' | 'http' | 'authentication' | 'onCommit' | 'longPushes'>,
  { queryTimeoutMs, heartbeatMs = SYNC_LIMITS.heartbeatMs }: SyncRouteSettings = {},
): HubRoute {
  const sync = createSyncHub({
    ...hub.authentication,
    engine: hub.engine,
    clock: hub.http.clock,
    onCommit: hub.onCommit,
    longPushes: hub.longPushes,
    pause,
    ...(queryTimeoutMs !== undefined && { queryTimeoutMs }),
  });
  return {
    prefix: PREFIX,
    handle: (request) => respond({ sync, longPushes: hub.longPushes }, request, heartbeatMs),
    webSocket: {
      path: `${PREFIX}line`,
      serve: (session) => serveSyncSession(sync, session, heartbeatMs),
    },
  };
}

const PREFIX = '/sync/';

async function respond(
  { sync, longPushes }: { readonly sync: SyncHub; readonly longPushes: OpenedHub['longPushes'] },
  request: HubRequest,
  heartbeatMs: number,
): Promise<HttpResponse> {
  const [path = '', search = ''] = request.path.split('?', 2);
  const name = path.slice(PREFIX.length);
  if (name !== 'events' && !isRequestName(name))
    throw new Refusal('not found', `There is nothing at ${path}.`);
  const method = name === 'events' ? 'GET' : 'POST';
  if (request.method !== method)
    throw new Refusal('method not allowed', `${path} takes ${method}, not ${request.method}.`);
  const secret = secretOf(request.headers['authorization']);
  if (secret === undefined) return refuse(NO_CREDENTIAL);
  if (name === 'events') {
    const device = new URLSearchParams(search).get('device') ?? '';
    const { signal } = request;
    const feed = await openFeed(sync, { secret, device, heartbeatMs, signal });
    return isSyncRefusal(feed)
      ? refuse(feed)
      : { status: 200, headers: EVENT_HEADERS, body: eventStream(feed) };
  }
  const { body } = request;
  const answer =
    longPushes && name === 'push' && body !== undefined && body.length > LIMITS.sliceChars
      ? await longPushes.executeText(secret, body)
      : await answerTo(name, secret, parseMessage(body), sync);
  return isSyncRefusal(answer) ? refuse(answer) : respondWith(request, answer);
}

const answerTo = async (
  name: RequestName,
  secret: string,
  message: unknown,
  sync: SyncHub,
): Promise<object> => (message === NOT_JSON ? INVALID_JSON : sync[name](secret, message));

const NO_CREDENTIAL: SyncRefusal = {
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
} satisfies Record<SyncRefusalCode, number>;

const EVENT_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } as const;
const HEADERS = {
  'content-type': 'application/json;charset=utf-8',
  'cache-control': 'no-store',
} as const;

const refuse = (refusal: SyncRefusal): HttpResponse => ({
  status: STATUS[refusal.code] ?? 400,
  headers: HEADERS,
  body: JSON.stringify(refusal),
});

/** Compressing shorter ones costs more than it saves. */
const GZIP_MIN_CHARS = 1024;

async function respondWith({ headers }: HubRequest, answer: object): Promise<HttpResponse> {
  const body = JSON.stringify(answer);
  const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?![.\d]))/.test(headers['accept-encoding'] ?? '');
  if (!acceptsGzip || body.length < GZIP_MIN_CHARS) return { status: 200, headers: HEADERS, body };
  const bytes = await compress(body);
  return {
    status: 200,
    headers: {
      ...HEADERS,
      'content-encoding': 'gzip',
      'content-length': String(bytes.length),
      vary: 'accept-encoding',
    },
    body: onePart(bytes),
  };
}

const compress = promisify(gzip);

async function* onePart(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
