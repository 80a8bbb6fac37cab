/** A hub as the database of a page: calls are sent to the hub by `fetch`. */
import { Refusal } from '../src/errors.ts';
import { metricsIn } from '../src/http/answer-headers.ts';
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
  TO_HUB_ALONE,
  unanswered,
  unreached,
} from '../worker/sync/hub-queries.ts';
import { abortableFetch } from './abortable-fetch.ts';
import type { PlainDatabase } from './plain-host.ts';

interface Remote {
  /** Without a slash at the end. */
  readonly url: string;
  readonly secret: string;
  /** Aborts requests in progress. */
  readonly ended: AbortSignal;
}

type Message = Pick<RequestInit, 'method' | 'body'> & {
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Whether the response is from a hub, not a page or text of a proxy. A hub responds with JSON, to a ping with text, to HEAD with nothing.
 */
const isOfHub = ({ ok }: Response, text: string): boolean =>
  /^\s*\{/.test(text) || (ok && !/^\s*</.test(text));

/** How long a response may take in addition to the query's time limit, in ms. */
const NETWORK_MS = 10_000;

/** Whether the text can be the secret of a key or a token, optionally followed by the name of a database: it has no spaces. */
export const isSecret = (text: string): boolean => /^\S+$/.test(text);

/** Whether the text is allowed in a header. */
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
      const notice = response.headers.get('x-burrow-notice');
      if (notice !== null) console.warn('Burrow:', notice);
      const body = explained({ status, body: text }, call.secret);
      return { status, body, metrics: metricsIn(response.headers), isFromHub: true };
    },
    async http({ method, path, headers, body }) {
      // A query may take long; the other routes respond immediately.
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
    // The hub's answers never refer to a file of this process.
    logFile: () => Promise.resolve(undefined),
    verify: () =>
      Promise.reject(
        new Refusal('bad request', 'verify() is not available for a database at a hub.'),
      ),
    subscribe: (id, secret, query, emit) =>
      live.subscribe(id, secret, query, (of, answer) =>
        emit({
          type: 'answer',
          id: of,
          ...answer,
          body: explained(answer, secret),
          isFromHub: true,
        }),
      ),
    unsubscribe: (id) => live.unsubscribe(id),
    leave: () => live.close(),
  };
}

/** Adds why a secret was rejected. A hub does not say so over HTTP, because programs compare those texts. */
const explained = (answer: { readonly status: number; readonly body: string }, secret: string) =>
  pageBody(answer, secret, UNKNOWN_SECRET);

const UNKNOWN_SECRET = 'this is no key or token, nor the root secret of the hub.';

/**
 * Checks the options as the page's own database does, with the same error texts. Otherwise `fetch` would throw a TypeError, which looks
 * like a bug.
 */
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
  /** The request has no effect. */
  readonly reads: boolean;
  /** How long the response may take, in ms; for a response in parts, until it begins. */
  readonly ms: number;
  readonly given?: AbortSignal | undefined;
  /** Responses that are not a complete text, such as streams, are passed on part by part. */
  readonly takesParts?: boolean;
}

interface Sent {
  readonly response: Response;
  readonly text: string;
  readonly parts?: AsyncIterable<Uint8Array>;
}

/** @throws Refusal as described at `unanswered` */
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
    const how = { ...message, ...TO_HUB_ALONE, signal };
    const response = await abortableFetch(`${remote.url}${path}`, how);
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

/** Whether the response is a complete text. A stream of events has the content type of JSON too. */
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
        // A pending read ends without a part.
        await reader.cancel();
        return end();
      },
    };
  },
});

/** Requests live queries. @throws Refusal `hub_unreachable`, or as `headersOf` */
async function openLive(
  remote: Remote,
  secret: string,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { ...headersOf({ secret }), 'content-type': 'application/json' };
  const how = { ...TO_HUB_ALONE, signal };
  try {
    return await abortableFetch(`${remote.url}/live/`, { method: 'POST', headers, body, ...how });
  } catch (cause) {
    if (signal.aborted) throw aborted();
    throw await unreachedHere(remote, liveUnreached(cause));
  }
}

async function unreachedHere({ url }: Remote, otherwise: Refusal): Promise<Refusal> {
  const said = await unreached(otherwise, { url, network: globalThis });
  const why = reasonOf(otherwise);
  return why
    ? new Refusal(said.code, `${said.message} Reason: ${why}.`, { cause: said.cause })
    : said;
}

/**
 * Why there is no connection, such as `connect ECONNREFUSED 127.0.0.1:8443` or `self-signed certificate`. Undefined in a page, which is not
 * told. Node and Deno give the reason as the cause of the error of `fetch`; Bun, Cloudflare Workers and a missing permission of Deno as this
 * error itself.
 */
function reasonOf(error: Error): string | undefined {
  if (typeof location !== 'undefined') return undefined;
  const { cause } = error;
  if (cause instanceof Error) return reasonOf(cause);
  // The request was aborted because it took too long.
  if (error instanceof Refusal || error.name === 'AbortError') return undefined;
  // Node's error about all addresses of a name has no message.
  const why = error.message || (error as NodeJS.ErrnoException).code;
  return why?.replace(/[.:\s]+$/, '');
}
