/** Queries that are sent to the hub to be evaluated there. */
import { EVERY_KEY } from '../../src/codec/ranges.ts';
import type { Metrics, QueryAnswer, QueryRequest, ReadSet } from '../../src/engine/host.ts';
import { Refusal, REFUSALS } from '../../src/errors.ts';
import { scan } from '../../src/store/scan.ts';
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
 * @returns with `why`, a sentence, when the hub has not answered
 * @throws Refusal `unauthorized`: it is the key that is wrong, for a wrong password has another code
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
  // Of a path, not of what a query looks for.
  if (status === 404 && body.includes('"not found"')) throw noHub(hub.url);
  if (!answer.ok) return { status, body, secret: '' };
  const { secret } = parsed.resource as { readonly secret: string };
  return { status: 200, body: '', secret };
}

export interface TimedQuery extends Partial<Pick<QueryRequest, 'allows' | 'placeName'>> {
  /** Wire JSON. */
  readonly query: string;
  readonly timeoutMs?: number | undefined;
}

/** @throws Refusal as `unanswered` says */
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

/** What it has read at the hub may change with anything that comes from there. */
const UNKNOWN_READS: ReadSet = { rows: [], ranges: [scan('documents', EVERY_KEY)] };

/** What is alike in all answers of a hub. */
export const HUBS_ANSWER = {
  txnTime: 0,
  metrics: NO_METRICS,
  database: [],
  readSet: UNKNOWN_READS,
  isHubs: true,
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
  const how = { credentials: 'omit', redirect: 'error', signal } as const;
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

/** Whether a query in wire JSON surely has no effect. */
export const isRead = (query: string): boolean => !MAY_WRITE.test(query);

/** Of what was sent to a hub: a read can be sent again. */
export const unanswered = (reads: boolean, cause: Refusal): Refusal =>
  new Refusal(
    reads ? 'hub_unreachable' : 'connection_needed',
    `${cause.message} ${reads ? SEND_AGAIN : UNKNOWN}`,
    { cause },
  );

const SEND_AGAIN = 'The query only reads: send it again when there is a connection.';
const UNKNOWN = 'It is unknown whether the query took effect: check before you send it again.';

/** Whoever can do without the hub may go on. */
export const isUnreached = (reason: unknown): boolean =>
  reason instanceof Refusal && REFUSALS[reason.code].class === 'ConnectionNeeded';

export const NOT_REACHED = 'The hub could not be reached, or its response was lost.';

/** Why a request has no answer. @param lateMs set: it was waited for so long */
export const notAnswered = (cause: unknown, lateMs: number | undefined): Refusal =>
  new Refusal(
    'connection_needed',
    lateMs === undefined ? NOT_REACHED : `The hub has not answered within ${lateMs / 1000} s.`,
    { cause },
  );

/** Undefined: no hub answers a query so. A server on the way may have answered in its place, or have cut the answer off. */
export function answerIn(text: string): { readonly resource?: unknown } | undefined {
  try {
    return /^\{\s*"(?:resource|errors)"/.test(text) && JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whoever answers at the URL knows no such path: it may be a hub, under another one. */
export const noHub = (url: string): Refusal =>
  new Refusal('connection_needed', `There is no hub at ${url}: check the option \`url\`.`);

/** Somebody else answers at the URL. */
export const foreign = ({ status }: Response): Refusal =>
  new Refusal('connection_needed', `The response, with status ${status}, is not from a hub.`);

/** With why there is no answer, as far as a page may know. What is said of the query stays: a lost answer may look alike. */
export async function unreached(said: Refusal, hub: Hub): Promise<Refusal> {
  const why = await refusedOrigin(hub);
  return why === undefined ? said : new Refusal(said.code, `${said.message} ${why}`, said);
}

/**
 * What to do about a hub that refuses the origin of this page: it answers a request whose answer nobody may read. So does a proxy
 * whose hub is down. A ping of the other mode first, for the network may be back. Undefined: that is not why there is no answer.
 */
export async function refusedOrigin({ url, network }: Hub): Promise<string | undefined> {
  const pings = (mode: RequestMode): Promise<boolean> =>
    network
      .fetch(`${url}/ping`, { mode, credentials: 'omit', signal: AbortSignal.timeout(PING_MS) })
      .then(
        () => true,
        () => false,
      );
  const isRefused = !(await pings('cors')) && (await pings('no-cors'));
  return isRefused
    ? `The hub does not answer pages of this origin (--cors ${location.origin}), or a server in front of it answers instead.`
    : undefined;
}

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
      credentials: 'omit',
    });
    return { answer, body: await answer.text() };
  };
  const { answer, body } = await answered().catch((cause: unknown) => {
    throw notAnswered(cause, late.aborted ? deadlineMs : undefined);
  });
  const parsed = answerIn(body);
  if (!parsed) throw foreign(answer);
  return { answer, body, parsed };
}

function metricsIn(headers: Headers): Metrics {
  const number = (name: string) => Number(headers.get(name));
  return {
    ...NO_METRICS,
    computeOps: number('x-compute-ops'),
    readOps: number('x-byte-read-ops'),
    writeOps: number('x-byte-write-ops'),
    queryTimeMs: number('x-query-time'),
  };
}
