/** Queries of the commands to a running hub. */
import { setTimeout as wait } from 'node:timers/promises';
import { OperationFault } from './operation-fault.ts';

/** The hub refused a query: the first of its errors. */
export class QueryRefused extends OperationFault {
  readonly code: string;
  readonly status: number;
  constructor(status: number, code: string, description: string) {
    super(`${code}: ${description}`);
    this.status = status;
    this.code = code;
  }
}

const ATTEMPTS_MAX = 20;
const mayRetry = (status: number): boolean => status === 429 || status === 503;

/** @throws QueryRefused, OperationFault */
export async function queryHub(url: string, secret: string, query: unknown): Promise<unknown> {
  return queryHubText(url, secret, JSON.stringify(query));
}

/** The text is sent as it is: JavaScript's JSON has no integers beyond 2^53. */
export async function queryHubText(url: string, secret: string, query: string): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
    const response = await fetchHub(url, { method: 'POST', headers, body: query });
    const body = (await response.json().catch(() => null)) as {
      readonly resource?: unknown;
      readonly errors?: readonly { readonly code: string; readonly description: string }[];
    } | null;
    if (!body) throw new OperationFault(`No hub responds at ${url}: status ${response.status}`);
    if (response.ok) return body.resource;
    const [error = { code: 'unknown', description: `status ${response.status}` }] =
      body.errors ?? [];
    if (!mayRetry(response.status) || attempt === ATTEMPTS_MAX)
      throw new QueryRefused(response.status, error.code, error.description);
    await wait(Number(response.headers.get('retry-after') ?? 1) * 1000);
  }
}

/** @throws OperationFault when there is no answer */
export async function fetchHub(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (reason) {
    const cause =
      reason instanceof Error && reason.cause instanceof Error ? reason.cause.message : '';
    throw new OperationFault(`No hub responds at ${url}: ${cause}`);
  }
}
