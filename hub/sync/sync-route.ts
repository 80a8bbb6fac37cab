/** Sync over HTTP: requests and responses are JSON, hints are server-sent events. A WebSocket can carry pushes and hints. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpResponse } from '../../src/http/message.ts';
import { HUB_LIMITS, SYNC_LIMITS } from '../../src/limits.ts';
import { SyncHub } from '../../src/sync/hub/sync-hub.ts';
import type { TextParts } from '../evaluators/text-parts.ts';
import type { HubRoute } from '../http/route.ts';
import { pause } from '../instance/hub-engine.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import {
  answerSync,
  answerWith,
  PREFIX,
  PUSH_PATH,
  SYNC_HEADERS,
  type SyncRequest,
} from './answer-sync.ts';
import { executeElsewhere } from './long-reads.ts';
import { serveSyncSession } from './sync-websocket.ts';

export interface SyncRouteSettings {
  readonly queryTimeoutMs?: number;
  readonly heartbeatMs?: number;
}

export function createSyncRoute(
  hub: Pick<OpenedHub, 'engine' | 'http' | 'authentication' | 'onCommit' | 'evaluators'>,
  { queryTimeoutMs, heartbeatMs = SYNC_LIMITS.heartbeatMs }: SyncRouteSettings = {},
): HubRoute {
  const { evaluators } = hub;
  const sync = new SyncHub({
    ...hub.authentication,
    engine: hub.engine,
    clock: hub.http.clock,
    onCommit: hub.onCommit,
    longPushes: evaluators && {
      turnMs: (secret) => evaluators.turnMs({ secret }),
      lineOf: (secret) => evaluators.lineOf({ secret }),
      execute: (secret, message) => evaluators.push({ secret, message }),
    },
    recordTime: (secret, ms) => evaluators?.recordTime({ secret }, ms),
    pause,
    ...(queryTimeoutMs !== undefined && { queryTimeoutMs }),
  });
  const longPush =
    evaluators && ((secret: string, parts: TextParts) => evaluators.push({ secret, parts }));
  const longRead =
    evaluators &&
    ((name: string, secret: string, message: unknown) =>
      executeElsewhere({ name, secret, message }, evaluators, sync));
  return {
    prefix: PREFIX,
    takesParts: evaluators && ((path) => path === PUSH_PATH),
    bodyValues: (path) => (path === PUSH_PATH ? Infinity : HUB_LIMITS.messageValues),
    handle: (request) =>
      answerSync(request, { sync, heartbeatMs, longPush, longRead, dress: compressed }),
    webSocket: {
      path: `${PREFIX}line`,
      serve: (session) => serveSyncSession(sync, session, heartbeatMs),
    },
  };
}

/** Compressing a shorter response costs more than it saves. */
const GZIP_MIN_CHARS = 1024;

async function compressed(
  body: string | Uint8Array,
  { headers }: SyncRequest,
): Promise<HttpResponse> {
  const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?![.\d]))/.test(headers['accept-encoding'] ?? '');
  if (!acceptsGzip || body.length < GZIP_MIN_CHARS) return answerWith(body);
  const bytes = await compress(body);
  return {
    status: 200,
    headers: {
      ...SYNC_HEADERS,
      'content-encoding': 'gzip',
      'content-length': String(bytes.length),
      vary: 'accept-encoding',
    },
    body: '',
    bytes,
  };
}

const compress = promisify(gzip);
