/** Sends queries of exports and imports: as exact wire JSON, over the HTTP API that every kind of database has. */
import { parseJson, type Json } from '../codec/json.ts';
import { DATA_LIMITS } from '../limits.ts';
import { DataError } from './data-error.ts';
import {
  queryErrorsIn,
  RefusedQuery,
  refusalOf,
  refusedText,
  whyOf,
  type QueryError,
} from './refusals.ts';
import { isObject, itemsOf } from './wire.ts';

/** A database of a page, of `burrowdb/testing`, or the result of `connect()`. */
export interface DataDatabase {
  readonly fetch: (
    input: string,
    init: {
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
      readonly signal?: AbortSignal;
    },
  ) => Promise<Response>;
  /** Used if no other secret is given. */
  readonly rootSecret?: string;
}

export interface AskOptions {
  /** Secret of an admin key of the database, or a scoped one for a child database; by default the root secret. */
  readonly secret?: string;
  readonly signal?: AbortSignal;
}

/** Sends a query and returns its result. @throws DataError `refused`, `outcome_unknown` */
export type Ask = (query: string) => Promise<Json>;

/** Statuses of refusals that say nothing about a query: unknown secret, rate limit, full storage. A part of the query would be refused too. */
const OF_NO_QUERY = [401, 429, 507];

const NO_DATABASE = 'The database must be what openDatabase() or connect() returned.';

/** Statuses of requests that were refused for the moment. With 503, only the codes in `NOT_EXECUTED` mean that the query had no effect. */
const RETRIED = [409, 429, 503];
const NOT_EXECUTED = ['time out', 'storage_blocked'];

/**
 * @param isReading set if all queries only read: they can be sent again whatever became of them
 * @throws DataError `invalid_option`
 */
export function askOf(
  database: DataDatabase,
  { secret, signal }: AskOptions,
  isReading = false,
): Ask {
  if (!(database as Partial<DataDatabase> | null | undefined)?.fetch)
    throw new DataError('invalid_option', NO_DATABASE);
  const known = secret ?? database.rootSecret;
  const headers = {
    'x-faunadb-api-version': '4',
    ...(known !== undefined && { authorization: `Bearer ${known}` }),
  };
  // The next answer may come from a hub whose clock is behind: what has happened here must have happened there as well.
  let seen = 0;
  return async (query) => {
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const response = await database.fetch('http://burrow.local/', {
        method: 'POST',
        headers: { ...headers, 'x-last-seen-txn': String(seen) },
        body: query,
        ...(signal && { signal }),
      });
      seen = Math.max(seen, Number(response.headers.get('x-txn-time')));
      const { ok, status } = response;
      const answer = memberIn(await response.text(), ok ? 'resource' : 'errors');
      if (ok && answer !== undefined) return answer;
      const errors = answer === undefined ? undefined : itemsOf(answer).flatMap(queryErrorsIn);
      const isUnknown =
        !isReading &&
        (errors
          ? status === 503 && !errors.some(({ code }) => NOT_EXECUTED.includes(code))
          : ok || status > 499);
      if (isUnknown || !RETRIED.includes(status) || attempt === DATA_LIMITS.attempts)
        throw failureOf(errors, status, isUnknown);
      await pause(waitMs(attempt, response.headers.get('retry-after')), signal);
    }
  };
}

/** A member of an answer; undefined if the answer is not from a database, but from a server in between. */
function memberIn(text: string, name: string): Json | undefined {
  const answer = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  return isObject(answer) ? answer.get(name) : undefined;
}

/** @param errors undefined if the answer is not from a database */
function failureOf(
  errors: readonly QueryError[] | undefined,
  status: number,
  isUnknown: boolean,
): DataError {
  const refusals = errors?.map(refusalOf) ?? [];
  const why = errors
    ? whyOf(refusals, status)
    : `The response, with status ${status}, is not from a database.`;
  if (isUnknown)
    return new DataError('outcome_unknown', `The query may have run: ${why}`, { errors: refusals });
  if (!errors) return new DataError('refused', why);
  return OF_NO_QUERY.includes(status)
    ? new DataError('refused', refusedText('a query', refusals, status), { errors: refusals })
    : new RefusedQuery(errors, status);
}

/** @param retryAfter in seconds; a date is ignored */
const waitMs = (attempt: number, retryAfter: string | null): number => {
  const hinted = (Number(retryAfter) || 0) * 1000;
  const own = DATA_LIMITS.retryMs * 2 ** (attempt - 1);
  return Math.min(Math.max(hinted, own), DATA_LIMITS.retryMaxMs);
};

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    };
    const stop = (): void => {
      end();
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      end();
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop);
  });
}
