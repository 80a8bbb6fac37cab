/** A hub as the database of a page: what is asked of it is sent by `fetch`. */
import type { QueryMetrics } from '../src/answers.ts';
import { Refusal } from '../src/errors.ts';
import { sendable } from '../src/http/authorization.ts';
import type { QueryCall } from '../src/host/query.ts';
import { LIMITS } from '../src/limits.ts';
import { abortWith } from '../hosts/abort-with.ts';
import { aborted } from '../worker/queries/abortable-calls.ts';
import { pageBody } from '../worker/queries/page-body.ts';
import { checkTimeout, tagsIn } from '../worker/queries/query-options.ts';
import { HubLiveQueries } from '../worker/sync/hub-live-queries.ts';
import {
  answerIn,
  foreign,
  isRead,
  liveUnreached,
  notAnswered,
  unanswered,
  unreached,
} from '../worker/sync/hub-queries.ts';
import { abortableFetch } from './abortable-fetch.ts';
import type { PlainDatabase } from './plain-host.ts';

interface Remote {
  /** Without a slash at its end. */
  readonly url: string;
  readonly secret: string;
  /** Aborts what is under way. */
  readonly ended: AbortSignal;
}

type Message = Pick<RequestInit, 'method' | 'body'> & {
  readonly headers: Readonly<Record<string, string>>;
};

/** Not of a server in between, with a page or a text: a hub answers with JSON, to a ping with a text, and to HEAD with nothing. */
const isOfHub = ({ ok }: Response, text: string): boolean =>
  /^\s*\{/.test(text) || (ok && !/^\s*</.test(text));

/** What a response may take beyond its query, ms. */
const NETWORK_MS = 10_000;

/** Of a key or a token, and maybe with the name of a database: text without spaces. */
export const isSecret = (text: string): boolean => /^\S+$/.test(text);

/** Whether it can stand in a header. */
const isPlain = (text: string): boolean => /^[!-~]+$/.test(text);

export function remoteDatabase(remote: Remote): PlainDatabase {
  const live = new HubLiveQueries({
    open: (secret, body, signal) => openLive(remote, secret, body, signal),
  });
  remote.ended.addEventListener('abort', () => live.close());
  return {
    rootSecret: remote.secret,
    async query(call, { signal }) {
      const headers = headersOf(call);
      const ms = (call.timeoutMs ?? LIMITS.queryTimeoutMaxMs) + NETWORK_MS;
      const sent = { method: 'POST', headers, body: call.query };
      const reads = isRead(call.query);
      const { response, text } = await send(remote, '/', sent, { reads, ms, given: signal });
      if (!answerIn(text)) throw unanswered(reads, foreign(response));
      const { status } = response;
      const body = explained({ status, body: text }, call.secret);
      return { status, body, metrics: metricsIn(response.headers), isHubs: true };
    },
    async http({ method, path, headers, body }) {
      // A query takes its time; the other routes answer at once.
      const ms = path === '/' ? LIMITS.queryTimeoutMaxMs : 0;
      const { authorization = `Bearer ${remote.secret}` } = headers;
      const known = { ...headers, authorization: sendable(authorization) };
      const sent = { method, headers: known, ...(body !== undefined && { body }) };
      const reads = method === 'GET' || (/^\/(?:stream\b|$)/.test(path) && isRead(body ?? ''));
      const how = { reads, ms: NETWORK_MS + ms, takesParts: true };
      const { response, text, parts } = await send(remote, path, sent, how);
      if (!parts && !isOfHub(response, text)) throw unanswered(reads, foreign(response));
      const { status } = response;
      return { status, headers: Object.fromEntries(response.headers), body: parts ?? text };
    },
    // The answers of a hub name no files of this process.
    logFile: () => Promise.resolve(undefined),
    verify: () =>
      Promise.reject(
        new Refusal('bad request', 'verify() is not available for a database at a hub.'),
      ),
    subscribe: (id, secret, query, emit) =>
      live.subscribe(id, secret, query, (of, answer) =>
        emit({ type: 'answer', id: of, ...answer, body: explained(answer, secret), isHubs: true }),
      ),
    unsubscribe: (id) => live.unsubscribe(id),
    leave: () => live.close(),
  };
}

/** A hub does not say over HTTP why a secret opens nothing, where programs compare texts. */
const explained = (answer: { readonly status: number; readonly body: string }, secret: string) =>
  pageBody(answer, secret, UNKNOWN_SECRET);

const UNKNOWN_SECRET = 'this is no key or token, nor the root secret of the hub.';

/** What the page's own database refuses is refused here, with the same text: `fetch` would take it for a bug. */
function headersOf({
  secret,
  timeoutMs,
  tags,
  traceparent,
}: Pick<QueryCall, 'secret'> & Partial<QueryCall>): Record<string, string> {
  if (!isSecret(secret)) throw new Refusal('unauthorized', `Unauthorized: ${UNKNOWN_SECRET}`);
  checkTimeout({ timeoutMs });
  tagsIn({ tags });
  return {
    'x-faunadb-api-version': '4',
    'x-fauna-driver': 'burrow',
    ...(timeoutMs !== undefined && { 'x-query-timeout': String(timeoutMs) }),
    ...(tags !== undefined && { 'x-fauna-tags': tags }),
    authorization: sendable(`Bearer ${secret}`),
    ...(traceparent !== undefined && isPlain(traceparent) && { traceparent }),
  };
}

interface Sending {
  /** It has no effect. */
  readonly reads: boolean;
  /** Until it is answered, or has begun to be in parts. */
  readonly ms: number;
  readonly given?: AbortSignal | undefined;
  /** What is no text that ends, such as a stream, is passed on as it comes. */
  readonly takesParts?: boolean;
}

interface Sent {
  readonly response: Response;
  readonly text: string;
  readonly parts?: AsyncIterable<Uint8Array>;
}

/** @throws Refusal as `unanswered` says */
async function send(
  remote: Remote,
  path: string,
  message: Message,
  { reads, ms, given, takesParts = false }: Sending,
): Promise<Sent> {
  const ended = abortWith(remote.ended, given);
  const { signal } = ended;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    ended.abort();
  }, ms);
  let parts: Sent['parts'];
  try {
    // A redirect would lose the body, or take the secret elsewhere.
    const how = { credentials: 'omit', redirect: 'error', signal } as const;
    const response = await abortableFetch(`${remote.url}${path}`, { ...message, ...how });
    if (takesParts && response.body && !isText(response)) {
      parts = partsOf(response.body, ended);
      return { response, text: '', parts };
    }
    return { response, text: await response.text() };
  } catch (cause) {
    if (signal.aborted && !isLate) throw aborted();
    const why = notAnswered(cause, isLate ? ms : undefined);
    throw await unreachedHere(remote, unanswered(reads, why));
  } finally {
    clearTimeout(timer);
    if (!parts) ended.abort();
  }
}

/** A stream of events has the type of JSON too. */
const isText = ({ headers }: Response): boolean =>
  !headers.has('x-fauna-stream-id') &&
  !/^application\/(?!json)/.test(headers.get('content-type') ?? '');

/** @param ended aborted when nobody reads any more */
const partsOf = (
  body: ReadableStream<Uint8Array>,
  ended: AbortController,
): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]() {
    const reader = body.getReader();
    const end = (): IteratorReturnResult<undefined> => {
      ended.abort();
      return { done: true, value: undefined };
    };
    return {
      async next() {
        const part = await reader.read().catch((cause: unknown) => {
          throw unanswered(true, notAnswered(cause, undefined));
        });
        return part.done ? end() : part;
      },
      async return() {
        // Whoever waits for a part has the end of it.
        await reader.cancel();
        return end();
      },
    };
  },
});

/** Live queries. @throws Refusal `hub_unreachable`, or as `headersOf` */
async function openLive(
  remote: Remote,
  secret: string,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { ...headersOf({ secret }), 'content-type': 'application/json' };
  const how = { credentials: 'omit', redirect: 'error', signal } as const;
  try {
    return await abortableFetch(`${remote.url}/live/`, { method: 'POST', headers, body, ...how });
  } catch (cause) {
    if (signal.aborted) throw aborted();
    throw await unreachedHere(remote, liveUnreached(cause));
  }
}

/** Only a page has an origin that a hub may refuse. */
const unreachedHere = async ({ url }: Remote, otherwise: Refusal): Promise<Refusal> =>
  typeof location === 'undefined' ? otherwise : unreached(otherwise, { url, network: globalThis });

function metricsIn(headers: Headers): QueryMetrics {
  const number = (name: string): number => Number(headers.get(name) ?? 0);
  return {
    bytesIn: number('x-query-bytes-in'),
    bytesOut: number('x-query-bytes-out'),
    computeOps: number('x-compute-ops'),
    readOps: number('x-byte-read-ops'),
    writeOps: number('x-byte-write-ops'),
    readBytes: number('x-storage-bytes-read'),
    writeBytes: number('x-storage-bytes-write'),
    queryTimeMs: number('x-query-time'),
    retries: number('x-txn-retries'),
  };
}
