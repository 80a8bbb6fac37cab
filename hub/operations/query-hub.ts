/** Queries of the tools to a hub that runs. */
import { setTimeout as wait } from 'node:timers/promises';
import { OperationFault } from './fill-store.ts';

/** A query that the hub refused: the first of its errors. */
export class QueryRefused extends OperationFault {
  readonly code: string;
  readonly status: number;
  constructor(status: number, code: string, description: string) {
    super(`${code}: ${description}`);
    this.status = status;
    this.code = code;
  }
}

const ATTEMPTS = 20;
const isWorthWaiting = (status: number): boolean => status === 429 || status === 503;

/** @throws QueryRefused, OperationFault */
export async function askHub(url: string, secret: string, query: unknown): Promise<unknown> {
  return askHubText(url, secret, JSON.stringify(query));
}

/** With the text as it is: JSON of JavaScript has no integers beyond 2^53. */
export async function askHubText(url: string, secret: string, query: string): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send(url, secret, query);
    const body = (await answer.json()) as {
      readonly resource?: unknown;
      readonly errors?: readonly { readonly code: string; readonly description: string }[];
    };
    if (answer.ok) return body.resource;
    const [error = { code: 'unknown', description: `status ${answer.status}` }] = body.errors ?? [];
    if (!isWorthWaiting(answer.status) || attempt === ATTEMPTS)
      throw new QueryRefused(answer.status, error.code, error.description);
    await wait(Number(answer.headers.get('retry-after') ?? 1) * 1000);
  }
}

async function send(url: string, secret: string, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
  try {
    return await fetch(url, { method: 'POST', headers, body });
  } catch (reason) {
    const cause =
      reason instanceof Error && reason.cause instanceof Error ? reason.cause.message : '';
    throw new OperationFault(`No hub answers at ${url}. ${cause}`);
  }
}
