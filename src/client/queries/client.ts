import type { MissingSet, QueryMetrics } from '../../answers.ts';
import type { Option, OptionRow } from '../../host/options.ts';
import type { AnswerPlace, LivePlace, QueryReply } from '../../host/query.ts';
import { q } from './builders.ts';
import { decodeWire } from './decode.ts';
import { queryText } from './query-text.ts';
import {
  abortSignal,
  acceptedValue,
  anything,
  anyText,
  callable,
  readOptions,
  requireObject,
  scalar,
} from '../read-options.ts';
import { queryError, UsageError, type BurrowError, type WireError } from '../errors.ts';
import { pagesOf, type PageHelper } from './page-helper.ts';
import type { Arg, Evaluated } from './types/arguments.ts';
import type { DirectCalls } from './types/builders.ts';
import type { PaginateOptions } from './types/documents.ts';
import type { Expr, SetRef } from './values.ts';

export interface QueryOptions {
  /** How long the query may take, ms. By default two minutes; at a hub, the limit in the hub's settings, 5 s by default. */
  readonly timeoutMs?: number;
  /** Recorded with the query in the query log. */
  readonly tags?: Readonly<Record<string, string>>;
  /** W3C trace context, recorded with the query in the query log. */
  readonly traceparent?: string;
  /**
   * For `sync.client`: where the answer comes from. By default from the copy, even if it does not hold all the data that the query reads.
   * - `complete`: from the copy if it holds all the data that the query reads; otherwise the query fails with `copy_incomplete`. Reads
   *   only.
   * - `hub`: from the hub, which does not know writes that were not sent yet. If the hub does not answer, a read fails with
   *   `hub_unreachable`, a write with `connection_needed`.
   * - `hub-or-copy`: from the hub, or from the copy if the hub does not answer within 5 s. `from` in the result of `queryWithMetrics()`
   *   tells which. Reads only.
   */
  readonly at?: AnswerPlace;
  /**
   * Stops the query: the call rejects with the signal's reason, and the query has no effect. A write that is already being committed
   * completes as usual. A write that was sent to the hub (`at`) may have taken effect or not.
   */
  readonly signal?: AbortSignal;
}

/** How complete an answer is, and where it comes from. */
export interface AnswerScope {
  /**
   * On a copy: collections and indexes that the query read, but that the copy does not keep or has not loaded yet. The hub's answer may
   * differ. Empty if nothing is missing.
   */
  readonly partial: readonly MissingSet[];
  /** Whether this device or the hub answered. */
  readonly from: 'device' | 'hub';
}

export interface WithMetrics<T> extends AnswerScope {
  readonly value: T;
  readonly metrics: QueryMetrics;
}

export interface Observer<T> {
  next(value: T, scope: AnswerScope): void;
  /** The query failed. It runs again when data that it read changes, so a value may follow. */
  error?(error: BurrowError): void;
  /**
   * The subscription has ended: the database was closed or locked, or its worker is lost for good. `error` was called with the same reason
   * before; no more calls follow.
   */
  closed?(reason: BurrowError): void;
}

export interface SubscribeOptions {
  /**
   * For `sync.client`: where values come from. By default from the copy, even if it does not hold all the data that the query reads.
   * - `complete`: from the copy while it holds all the data that the query reads; otherwise the query fails with `copy_incomplete`.
   * - `hub-or-copy`: from the hub while it can be reached; from the copy before that and otherwise. `from` of the scope tells which.
   */
  readonly at?: LivePlace;
  /** Ends the subscription, as the returned function does. */
  readonly signal?: AbortSignal;
}

/** What a client needs from the database it belongs to. */
export interface ClientHost {
  /** @param secret is called when the query is sent, because unlocking the database changes its root secret */
  query(secret: () => string, query: string, options: QueryOptions): Promise<QueryReply>;
  subscribe(
    secret: () => string,
    query: string,
    observer: Observer<unknown>,
    at: LivePlace | undefined,
    onEnd: () => void,
  ): () => void;
}

const SUBSCRIBE_OPTIONS = {
  at: scalar,
  signal: abortSignal,
} satisfies Record<keyof SubscribeOptions, OptionRow>;
const QUERY_OPTIONS = {
  ...SUBSCRIBE_OPTIONS,
  timeoutMs: scalar,
  tags: anything,
  traceparent: anyText,
} satisfies Record<keyof QueryOptions, OptionRow>;

/**
 * The cursor of an empty page is the cursor that the page was requested with, so with a size below 1, reading page after page would never
 * end. The database checks everything else about the size.
 */
const pageSize: Option<unknown> = {
  expected: 'an integer from 1 to 100,000',
  accepts: (given) => !((given as number) < 1),
  defaultValue: undefined,
};

/** A client: acts on the database with one secret. */
class QueryClient {
  private readonly host: ClientHost;
  private readonly secret: () => string;

  constructor(host: ClientHost, secret: () => string) {
    this.host = host;
    this.secret = secret;
  }

  /**
   * Evaluates an expression as one transaction.
   * @throws QueryError when the query fails
   */
  query(expression: Expr<never>, options?: QueryOptions): Promise<unknown>;
  query<T>(expression: Expr<T>, options?: QueryOptions): Promise<T>;
  query<A extends Arg>(expression: A, options?: QueryOptions): Promise<Evaluated<A>>;
  query<T>(expression: Arg, options?: QueryOptions): Promise<T>;
  async query(expression: Arg, options: QueryOptions = {}): Promise<unknown> {
    return (await this.queryWithMetrics(expression, options)).value;
  }

  /** Like `query`, and also returns the metrics and the scope of the answer. */
  queryWithMetrics(expression: Expr<never>, options?: QueryOptions): Promise<WithMetrics<unknown>>;
  queryWithMetrics<T>(expression: Expr<T>, options?: QueryOptions): Promise<WithMetrics<T>>;
  queryWithMetrics<A extends Arg>(
    expression: A,
    options?: QueryOptions,
  ): Promise<WithMetrics<Evaluated<A>>>;
  queryWithMetrics<T>(expression: Arg, options?: QueryOptions): Promise<WithMetrics<T>>;
  async queryWithMetrics(
    expression: Arg,
    options: QueryOptions = {},
  ): Promise<WithMetrics<unknown>> {
    readOptions(QUERY_OPTIONS, options);
    const reply = await this.host.query(this.secret, queryText(expression), options);
    const { metrics, missing: partial = [], isFromHub } = reply;
    return { value: await valueOf(reply), metrics, partial, from: isFromHub ? 'hub' : 'device' };
  }

  /**
   * Resolves when an index has been built. Reading the index fails until then.
   * @throws QueryError when the index does not exist
   */
  whenActive(index: Expr): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = this.subscribe(q.Select('active', q.Get(index)), {
        next(isActive) {
          if (isActive) resolve(stop());
        },
        error(error) {
          stop();
          reject(error);
        },
      });
    });
  }

  /**
   * Returns the pages of a set, one after the other: `for await (const page of client.paginate(set))`.
   * @throws UsageError when `size` is less than 1
   */
  paginate<T>(
    set: Expr<SetRef<T>>,
    options?: PaginateOptions,
    queryOptions?: QueryOptions,
  ): PageHelper<T>;
  paginate<T = unknown>(
    set: Arg,
    options?: PaginateOptions,
    queryOptions?: QueryOptions,
  ): PageHelper<T>;
  paginate(set: Arg, options: PaginateOptions = {}, queryOptions: QueryOptions = {}) {
    requireObject(options);
    acceptedValue(pageSize, options.size, 'size');
    return pagesOf((page) => this.query(page, queryOptions), set, options);
  }

  /**
   * Runs a read query now, and again whenever data that it read changes. `next` gets each value that differs from the one before.
   * @returns a function that ends the subscription
   */
  subscribe<T>(expression: Expr<T>, observer: Observer<T>, options?: SubscribeOptions): () => void;
  subscribe<A extends Arg>(
    expression: A,
    observer: Observer<Evaluated<A>>,
    options?: SubscribeOptions,
  ): () => void;
  subscribe(
    expression: Arg,
    observer: Observer<unknown>,
    options: SubscribeOptions = {},
  ): () => void {
    readOptions(SUBSCRIBE_OPTIONS, options);
    const { at, signal } = options;
    const { next, error = next, closed = next } = Object(observer) as Partial<typeof observer>;
    if (![next, error, closed].every(callable.accepts))
      throw new UsageError('subscribe() takes functions: { next, error, closed }.');
    if (signal?.aborted) return () => undefined;
    // A signal may outlive many subscriptions, so its listener is removed when the subscription ends.
    const onEnd = (): void => signal?.removeEventListener('abort', stop);
    const stop = this.host.subscribe(this.secret, queryText(expression), observer, at, onEnd);
    signal?.addEventListener('abort', stop);
    return stop;
  }
}

/** @throws QueryError when the query failed */
export async function valueOf({
  status,
  body,
}: Pick<QueryReply, 'status' | 'body'>): Promise<unknown> {
  if (status < 200 || status >= 300) throw queryError(errorsOf(body), status);
  return ((await decodeWire(body)) as { readonly resource: unknown }).resource;
}

const errorsOf = (body: string): readonly WireError[] =>
  (JSON.parse(body) as { readonly errors: readonly WireError[] }).errors;

/** Acts on the database with one secret: has `query()` and related methods, and every builder as a method that runs at once. */
export type Client = QueryClient & DirectCalls;

export const makeClient = (host: ClientHost, secret: () => string): Client =>
  new QueryClient(host, secret) as Client;

for (const [name, build] of Object.entries(q as unknown as Record<string, typeof q.Do>))
  Object.defineProperty(QueryClient.prototype, name, {
    async value(this: QueryClient, ...args: Parameters<typeof build>) {
      return this.query(build(...args));
    },
  });
