/** Queries that are sent to the hub and evaluated there. */
import { membersOf, tryJson } from '../../src/codec/plain-json.ts';
import { EVERY_KEY } from '../../src/codec/ranges.ts';
import type { QueryAnswer, QueryRequest, ReadSet } from '../../src/engine/host.ts';
import { Refusal, REFUSALS } from '../../src/errors.ts';
import { scan } from '../../src/store/scan.ts';
import { metricsIn } from '../../src/http/answer-headers.ts';
import { NO_METRICS } from '../../src/engine/session.ts';
import { abortWith } from '../../hosts/abort-with.ts';
import type { Network } from '../browser/network.ts';
import { aborted } from '../queries/abortable-calls.ts';
import type { SyncCall } from '../../src/host/sync.ts';

export interface Hub {
  readonly url: string;
  readonly network: Pick<Network, 'fetch'>;
}

const LOGIN_MS = 8000;
export const QUERY_MS = 60_000;
const PING_MS = 3000;

/**
 * @returns an object with `why`, a sentence, when the hub has not responded
 * @throws Refusal `unauthorized` when the `key` is wrong; a wrong password has another code
 */
export async function loginAtHub(
  hub: Hub,
  { user, password, key }: NonNullable<SyncCall['login']>,
): Promise<
  | { readonly status: number; readonly body: string; readonly secret: string }
  | { readonly why: string }
> {
  const params = JSON.stringify({ object: { password } });
  const query = `{"login":${user},"params":${params}}`;
  const sent = await post(hub, key, query, LOGIN_MS).catch(({ message: why }: Refusal) => ({
    why,
  }));
  if ('why' in sent) return sent;
  const { answer, body, parsed } = sent;
  const { status } = answer;
  if (status >= 500) return { why: `The hub has answered with status ${status}.` };
  if (status === 401) throw new Refusal('unauthorized', 'The hub does not know this `key`.');
  // This 404 is for an unknown path, not for a document that the query did not find.
  if (status === 404 && body.includes('"not found"')) throw noHub(hub.url);
  if (!answer.ok) return { status, body, secret: '' };
  const { secret } = membersOf(parsed.resource);
  return typeof secret === 'string'
    ? { status: 200, body: '', secret }
    : { why: foreign(answer).message };
}

export interface TimedQuery extends Partial<Pick<QueryRequest, 'allows' | 'placeName'>> {
  /** Wire JSON. */
  readonly query: string;
  readonly timeoutMs?: number | undefined;
}

/** @throws Refusal as described at `unanswered` */
export async function askHub(
  hub: Hub,
  token: string | undefined,
  { query, timeoutMs }: TimedQuery,
  signal?: AbortSignal,
): Promise<QueryAnswer> {
  const sent = post(hub, token ?? '', query, timeoutMs ?? QUERY_MS, signal);
  const { answer, body } = await sent.catch(async (cause: Refusal) => {
    throw signal?.aborted ? aborted() : await unreached(unanswered(isRead(query), cause), hub);
  });
  return {
    ...HUBS_ANSWER,
    status: answer.status,
    body,
    txnTime: Number(answer.headers.get('x-txn-time')),
    metrics: metricsIn(answer.headers),
  };
}

/** It is not known what a query has read at the hub, so any document that arrives from the hub may change its answer. */
const UNKNOWN_READS: ReadSet = { rows: [], ranges: [scan('documents', EVERY_KEY)] };

/** Fields that are the same in all answers of a hub. */
export const HUBS_ANSWER = {
  txnTime: 0,
  metrics: NO_METRICS,
  database: [],
  readSet: UNKNOWN_READS,
  isFromHub: true,
} as const;

/** @throws Refusal `hub_unreachable` */
export async function openLive(
  { url, network }: Hub,
  token: string | undefined,
  body: string,
  signal: AbortSignal,
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${token ?? ''}`,
    'x-faunadb-api-version': '4',
    'content-type': 'application/json',
  };
  const how = { ...TO_HUB_ALONE, signal };
  try {
    return await network.fetch(`${url}/live/`, { method: 'POST', headers, body, ...how });
  } catch (cause) {
    throw signal.aborted ? aborted() : liveUnreached(cause);
  }
}

export const liveUnreached = (cause: unknown): Refusal =>
  new Refusal(
    'hub_unreachable',
    'The hub could not be reached. Live queries continue when it can be.',
    { cause },
  );

const MAY_WRITE = /"(?:call|create|delete|insert|log(?:in|out)|move|remove|replace|update)\w*":/;

/** Whether a query in wire JSON certainly has no effect. */
export const isRead = (query: string): boolean => !MAY_WRITE.test(query);

/** The error for a request to the hub that got no response. If it only reads, it can be sent again. */
export const unanswered = (reads: boolean, cause: Refusal): Refusal =>
  new Refusal(
    reads ? 'hub_unreachable' : 'connection_needed',
    `${cause.message} ${reads ? SEND_AGAIN : UNKNOWN}`,
    { cause },
  );

const SEND_AGAIN = 'The query only reads: send it again when there is a connection.';
const UNKNOWN = 'It is unknown whether the query took effect: check before you send it again.';

/** Whether the hub could not be reached. A caller that can do without the hub may continue. */
export const isUnreached = (reason: unknown): boolean =>
  reason instanceof Refusal && REFUSALS[reason.code].class === 'ConnectionNeeded';

const NOT_REACHED = 'The hub could not be reached, or its response was lost.';

/** The error for a request without a response. @param lateMs the timeout in ms, if it has passed */
export const notAnswered = (cause?: unknown, lateMs?: number): Refusal =>
  new Refusal(
    'connection_needed',
    lateMs === undefined ? NOT_REACHED : `The hub has not answered within ${lateMs / 1000} s.`,
    { cause },
  );

/** Undefined when the text is not a hub's answer to a query: a proxy may have responded in its place, or the response was cut off. */
export function answerIn(text: string): { readonly resource?: unknown } | undefined {
  if (!/^\{\s*"(?:resource|errors)"/.test(text)) return undefined;
  const { errors, ...answer } = membersOf(tryJson(text));
  if (!errors) return 'resource' in answer ? answer : undefined;
  // Other services send `errors` too. Those of a hub have codes.
  return Array.isArray(errors) && typeof membersOf(errors[0])['code'] === 'string'
    ? answer
    : undefined;
}

/** The server at the URL does not know the path. There may be a hub at another URL. */
export const noHub = (url: string): Refusal =>
  new Refusal('connection_needed', `There is no hub at ${url}: check the option \`url\`.`);

/** The response is from another server, not from a hub. A browser does not show the status of a redirect. */
export const foreign = ({ status, type, headers }: Response): Refusal =>
  new Refusal(
    'connection_needed',
    type === 'opaqueredirect' || headers.has('location')
      ? REDIRECTED
      : `The response, with status ${status}, is not from a hub.`,
  );

const REDIRECTED =
  'The response redirects to another URL: check the option `url`, and whether this network wants a login.';

/** Redirects are not followed: the request would lose its body or its token, or send them to another server. */
export const TO_HUB_ALONE = { credentials: 'omit', redirect: 'manual' } as const;

/**
 * Adds the reason for the missing response, as far as a page can find out. What the error says about the query's effect stays, because a
 * lost response may look the same.
 */
export async function unreached(said: Refusal, hub: Hub): Promise<Refusal> {
  const why = await refusedOrigin(hub);
  return why === undefined ? said : new Refusal(said.code, `${said.message} ${why}`, said);
}

/** URLs that browsers do not let a page over https use. */
const MIXED = /^http:(?!\/\/(?:localhost|127\.|\[::1]))/i;

/**
 * The advice for the user if the hub rejects the origin of this page, or the browser blocks the request. A hub that rejects the origin
 * responds to requests, but the page may not read the responses (CORS); a proxy whose hub is down behaves in the same way. The ping in
 * `cors` mode comes first, because the network may be back. Undefined when neither is the reason for the missing response.
 */
export async function refusedOrigin({ url, network }: Hub): Promise<string | undefined> {
  // Only a page has an origin that a hub can reject.
  if (typeof location === 'undefined') return undefined;
  const pings = (mode: RequestMode): Promise<boolean> =>
    network
      .fetch(`${url}/ping`, { mode, credentials: 'omit', signal: AbortSignal.timeout(PING_MS) })
      .then(
        () => true,
        () => false,
      );
  const ended = new AbortController();
  const forbidden = policyViolation(ended.signal);
  try {
    const { origin } = location;
    if (await pings('cors')) return undefined;
    if (await pings('no-cors'))
      return `The hub does not answer pages of this origin (--cors ${origin}), or another server answers at its URL.`;
    if (await Promise.race([forbidden, pause(REPORT_MS)]))
      return 'A Content-Security-Policy forbids this: its `connect-src` must contain the URL of the hub.';
    return origin.startsWith('https') && MIXED.test(url)
      ? 'A page over https cannot use a hub over http: give the hub a certificate.'
      : undefined;
  } finally {
    ended.abort();
  }
}

/** How long after a request has failed, in ms, browsers may report that a policy forbids it. */
const REPORT_MS = 100;

const pause = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms));

/** Resolves to true when a Content-Security-Policy of this page or worker forbids something. */
const policyViolation = (signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const onViolation = (event: Event): void => {
      // A policy that only reports forbids nothing.
      if ('disposition' in event && event.disposition === 'enforce') resolve(true);
    };
    // Node has no such function; a test may have a `location` there.
    globalThis.addEventListener?.('securitypolicyviolation', onViolation, { signal });
  });

/** @throws Refusal `connection_needed` */
async function post(
  { url, network }: Hub,
  secret: string,
  query: string,
  deadlineMs: number,
  signal?: AbortSignal,
) {
  const late = AbortSignal.timeout(deadlineMs);
  const answered = async () => {
    const answer = await network.fetch(`${url}/`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'x-faunadb-api-version': '4',
        'x-fauna-driver': 'burrow',
      },
      body: query,
      signal: abortWith(late, signal).signal,
      ...TO_HUB_ALONE,
    });
    return { answer, body: await answer.text() };
  };
  const { answer, body } = await answered().catch((cause: unknown) => {
    throw notAnswered(cause, late.aborted ? deadlineMs : undefined);
  });
  const parsed = answerIn(body);
  if (!parsed) throw answer.status === 404 ? noHub(url) : foreign(answer);
  return { answer, body, parsed };
}
