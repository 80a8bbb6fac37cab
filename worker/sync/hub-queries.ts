/** Queries that are sent to the hub to be evaluated there. */
import type { Metrics, QueryAnswer } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
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
const QUERY_MS = 60_000;
const PING_MS = 3000;

/** Undefined when the hub cannot be reached. */
export async function loginAtHub(
  hub: Hub,
  { user, password, key }: NonNullable<SyncCall['login']>,
): Promise<
  { readonly status: number; readonly body: string; readonly secret: string } | undefined
> {
  const params = JSON.stringify({ object: { password } });
  const query = `{"login":${user},"params":${params}}`;
  const sent = await post(hub, key, query, LOGIN_MS).catch(() => undefined);
  if (!sent || sent.answer.status >= 500) return undefined;
  const { answer, body } = sent;
  if (!answer.ok) return { status: answer.status, body, secret: '' };
  const { resource } = JSON.parse(body) as { readonly resource: { readonly secret: string } };
  return { status: 200, body: '', secret: resource.secret };
}

export interface TimedQuery {
  /** Wire JSON. */
  readonly query: string;
  readonly timeoutMs?: number | undefined;
}

/** @throws Refusal `connection_needed` */
export async function askHub(
  hub: Hub,
  token: string | undefined,
  { query, timeoutMs }: TimedQuery,
  signal?: AbortSignal,
): Promise<QueryAnswer> {
  const sent = post(hub, token ?? '', query, timeoutMs ?? QUERY_MS, signal);
  const { answer, body } = await sent.catch(async (cause: unknown) => {
    throw signal?.aborted ? aborted() : await unreached(hub, UNREACHED, cause);
  });
  return {
    status: answer.status,
    body,
    txnTime: Number(answer.headers.get('x-txn-time')),
    metrics: metricsIn(answer.headers),
    database: [],
    readSet: { rows: [], ranges: [] },
  };
}

/** @throws Refusal `connection_needed` */
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
    throw signal.aborted
      ? aborted()
      : new Refusal('connection_needed', 'The hub could not be reached.', { cause });
  }
}

const UNREACHED =
  'The hub could not be reached or its response was lost. It is unknown whether the query ran.';

/** Whether a query is answered so by a hub: a server on the way may have answered in its place. */
export const isAnswer = (text: string): boolean => /^\{\s*"(?:resource|errors)"/.test(text);

/** Somebody else answers at the URL. */
export const foreign = ({ status }: Response, more = ''): Refusal =>
  new Refusal('connection_needed', `The response, with status ${status}, is not of a hub.${more}`);

/** Why there is no answer, as far as a page is told. */
export async function unreached(hub: Hub, otherwise: string, cause: unknown): Promise<Refusal> {
  return new Refusal('connection_needed', (await refusedOrigin(hub)) ?? otherwise, { cause });
}

/**
 * What to do about a hub that refuses the origin of this page: it answers a request whose answer nobody may read. A ping of the
 * other mode first, for the network may be back. Undefined: that is not why there is no answer.
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
    ? `The hub answers, but not to pages of this origin: --cors ${location.origin}`
    : undefined;
}

/** @throws Refusal `connection_needed` when the answer is not of a hub; what `fetch` rejects with */
async function post(
  { url, network }: Hub,
  secret: string,
  query: string,
  deadlineMs: number,
  signal?: AbortSignal,
) {
  const answer = await network.fetch(`${url}/`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'x-faunadb-api-version': '4',
      'x-fauna-driver': 'burrow',
    },
    body: query,
    signal: abortWith(AbortSignal.timeout(deadlineMs), signal).signal,
    credentials: 'omit',
  });
  const body = await answer.text();
  if (!isAnswer(body)) throw foreign(answer);
  return { answer, body };
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
