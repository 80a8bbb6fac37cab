/** Sends queries of the commands to a running hub. */
import { setTimeout as wait } from 'node:timers/promises';
import { tryParseJson } from '../../src/codec/json.ts';
import { membersOf, tryJson } from '../../src/codec/plain-json.ts';
import { queryErrorsIn, refusalOf, type QueryError } from '../../src/data/refusals.ts';
import { isObject, itemsOf } from '../../src/data/wire.ts';
import { sendable } from '../../src/http/authorization.ts';
import { REFUSALS, type RefusalCode } from '../../src/errors.ts';
import { messageOf } from '../../hosts/node-errors.ts';
import { OperationFault } from './operation-fault.ts';

/** More helpful than the hub's own text for `unauthorized`, which is fixed because programs compare it. */
export const UNKNOWN_SECRET =
  'unauthorized: the hub does not know this secret. Is the key deleted, or of another hub?';

/** The hub refused a query. Code and message are those of the first error. */
export class QueryRefused extends OperationFault {
  readonly code: string;
  readonly status: number;
  readonly errors: readonly QueryError[];
  constructor(status: number, errors: readonly QueryError[]) {
    const [{ code, description } = { code: 'unknown', description: `status ${status}` }] =
      errors.map(refusalOf);
    super(code === 'unauthorized' ? UNKNOWN_SECRET : `${code}: ${description}`);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

const ATTEMPTS_MAX = 20;

export interface QueryOptions {
  /** Set for a query that must not take effect twice. It is only sent again if the first attempt had no effect. */
  readonly once?: boolean;
}

/** @throws QueryRefused, OperationFault */
export async function queryHub(
  url: string,
  secret: string,
  query: unknown,
  options?: QueryOptions,
): Promise<unknown> {
  return queryHubText(url, secret, JSON.stringify(query), options);
}

/** Sends the text unchanged, because JavaScript's JSON cannot represent integers beyond 2^53. */
export async function queryHubText(
  url: string,
  secret: string,
  query: string,
  { once = false }: QueryOptions = {},
): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
    const { response, text } = await fetchHub(url, { method: 'POST', headers, body: query });
    const { status } = response;
    const answer = response.ok ? tryJson(text) : undefined;
    if (typeof answer === 'object' && answer !== null) return membersOf(answer)['resource'];
    const errors = response.ok ? undefined : errorsIn(text);
    if (!errors) throw new OperationFault(`No hub responds at ${url}: status ${status}`);
    const refused = new QueryRefused(status, errors);
    if (!mayRetry(refused, once) || attempt === ATTEMPTS_MAX) throw refused;
    await wait(Number(response.headers.get('retry-after') ?? 1) * 1000);
  }
}

const mayRetry = ({ status, code }: QueryRefused, once: boolean): boolean =>
  status === 429 || (status === 503 && (!once || hadNoEffect(code)));

const hadNoEffect = (code: string): boolean =>
  Object.hasOwn(REFUSALS, code) && 'retryable' in REFUSALS[code as RefusalCode];

function errorsIn(text: string): QueryError[] | undefined {
  const answer = tryParseJson(text);
  return isObject(answer) ? itemsOf(answer.get('errors')).flatMap(queryErrorsIn) : undefined;
}

type HubHeaders = Readonly<Record<string, string>>;

/** Fetches a response with its whole text. @throws OperationFault when there is no answer, or its text breaks off */
export async function fetchHub(
  url: string,
  init: Omit<RequestInit, 'headers'> & { readonly headers: HubHeaders },
): Promise<{ readonly response: Response; readonly text: string }> {
  const { authorization = '' } = init.headers;
  try {
    const headers = { ...init.headers, authorization: sendable(authorization) };
    const response = await fetch(url, { ...init, headers });
    return { response, text: await response.text() };
  } catch (reason) {
    const cause = reason instanceof Error ? reason.cause : undefined;
    throw new OperationFault(`No hub responds at ${url}: ${messageOf(cause ?? reason)}`);
  }
}
