/** Sync over HTTP: exchanges are JSON both ways, hints are server-sent events; or a line carries both. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Refusal } from '../../src/errors.ts';
import { secretOf } from '../../src/http/authorization.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import {
  createSyncHub,
  isSyncRefusal,
  type Subscription,
  type SyncHub,
} from '../../src/sync/hub/sync-hub.ts';
import type { SyncRefusal, SyncRefusalCode } from '../../src/sync/protocol.ts';
import type { HubRequest, HubRoute } from '../http/route.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import { eventStream } from './event-stream.ts';
import { PokeFeed } from './hint-feed.ts';
import { serveSyncLine } from './sync-websocket.ts';

export interface SyncRouteSettings {
  readonly queryTimeoutMs?: number;
  readonly heartbeatMs?: number;
}

/** Over the engine of an opened hub. */
export function createSyncRoute(
  hub: Pick<OpenedHub, 'engine' | 'http' | 'authentication' | 'onCommit'>,
  { queryTimeoutMs, heartbeatMs = SYNC_LIMITS.heartbeatMs }: SyncRouteSettings = {},
): HubRoute {
  const sync = createSyncHub({
    ...hub.authentication,
    engine: hub.engine,
    clock: hub.http.clock,
    onCommit: hub.onCommit,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
    ...(queryTimeoutMs !== undefined && { queryTimeoutMs }),
  });
  return {
    prefix: PREFIX,
    handle: (request) => answerSync(sync, request, heartbeatMs),
    line: { path: `${PREFIX}line`, serve: (line) => serveSyncLine(sync, line, heartbeatMs) },
  };
}

const PREFIX = '/sync/';

type Exchange = 'hello' | 'push' | 'pull' | 'check';
const EXCHANGES: ReadonlySet<string> = new Set<Exchange>(['hello', 'push', 'pull', 'check']);
const isExchange = (name: string): name is Exchange => EXCHANGES.has(name);

async function answerSync(
  sync: SyncHub,
  request: HubRequest,
  heartbeatMs: number,
): Promise<HttpResponse> {
  const [path = '', search = ''] = request.path.split('?', 2);
  const name = path.slice(PREFIX.length);
  if (name !== 'events' && !isExchange(name))
    throw new Refusal('not found', `There is nothing at ${path}.`);
  if (request.method !== (name === 'events' ? 'GET' : 'POST'))
    throw new Refusal('method not allowed', `${request.method} is not what ${path} is asked by.`);
  const secret = secretOf(request.headers['authorization']);
  if (secret === undefined) return refusedWith(NOBODY);
  if (name === 'events') return answerEvents(sync, request, { secret, search, heartbeatMs });
  const message = messageIn(request.body);
  if (message === NO_JSON) return refusedWith(NO_MESSAGE);
  const answer = await sync[name](secret, message);
  return isSyncRefusal(answer) ? refusedWith(answer) : answeredWith(request, answer);
}

const NOBODY: SyncRefusal = { code: 'needs_login', description: 'No credential was given.' };
const NO_MESSAGE: SyncRefusal = { code: 'bad_message', description: 'The message is no JSON.' };

const NO_JSON = Symbol('no JSON');

function messageIn(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? '');
  } catch {
    return NO_JSON;
  }
}

const STATUS: Readonly<Record<SyncRefusalCode, number>> = {
  upgrade_needed: 426,
  client_forked: 409,
  client_regressed: 409,
  gap: 409,
  epoch_changed: 409,
  device_taken: 409,
  needs_login: 401,
  locked: 403,
  bad_message: 400,
};

const HEADERS = {
  'content-type': 'application/json;charset=utf-8',
  'cache-control': 'no-store',
} as const;

const refusedWith = (refusal: SyncRefusal): HttpResponse => ({
  status: STATUS[refusal.code],
  headers: HEADERS,
  body: JSON.stringify(refusal),
});

/** Shorter ones are not worth the work. */
const GZIP_FROM_CHARS = 1024;

async function answeredWith({ headers }: HubRequest, answer: object): Promise<HttpResponse> {
  const body = JSON.stringify(answer);
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?![.\d]))/.test(headers['accept-encoding'] ?? '');
  if (!takesGzip || body.length < GZIP_FROM_CHARS) return { status: 200, headers: HEADERS, body };
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

interface EventsAsked {
  readonly secret: string;
  readonly search: string;
  readonly heartbeatMs: number;
}

/** Ends with the credential: it is looked at with every heartbeat. */
async function answerEvents(
  sync: SyncHub,
  { signal }: HubRequest,
  { secret, search, heartbeatMs }: EventsAsked,
): Promise<HttpResponse> {
  const device = new URLSearchParams(search).get('device') ?? '';
  const feed = new PokeFeed(heartbeatMs, () => subscription.refusal());
  const found = await sync.subscribe(secret, device, (poke) => feed.poke(poke));
  if (isSyncRefusal(found)) {
    feed.close();
    return refusedWith(found);
  }
  const subscription: Subscription = found;
  feed.onClose(() => subscription.close());
  feed.start();
  if (signal.aborted) feed.close();
  signal.addEventListener('abort', () => feed.close(), { once: true });
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
  return { status: 200, headers, body: eventStream(feed) };
}
