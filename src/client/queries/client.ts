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
  /** How long the query may take, ms. When not given two minutes; at a hub what its settings say, 5 s by default. */
  readonly timeoutMs?: number;
  /** Kept with the query in the log. */
  readonly tags?: Readonly<Record<string, string>>;
  /** W3C trace context, kept with the query in the log. */
  readonly traceparent?: string;
  /**
   * Of `sync.client`: where the answer comes from. Left out: from the copy, whatever it holds.
   * - `complete`: from the copy, if it holds all that the query reads; otherwise the query fails with `copy_incomplete`. Reads only.
   * - `hub`: from the hub, which does not know writes that were not sent yet. When it does not answer, a read fails with `hub_unreachable`,
   *   a write with `connection_needed`.
   * - `hub-or-copy`: from the hub, or from the copy when the hub does not answer within 5 s: `from` of `queryWithMetrics()` says which.
   *   Reads only.
   */
  readonly at?: AnswerPlace;
  /**
   * Stops the query: it rejects with the reason of the signal, and has had no effect. A write that is being committed by then is answered
   * as usual; of one that was sent to the hub (`at`) it is unknown whether it took effect.
   */
  readonly signal?: AbortSignal;
}

/** How far an answer can be relied on. */
export interface AnswerScope {
  /**
   * On a copy: what the query read and the copy does not keep, or has not loaded yet; the answer may differ from that of the hub. Empty
   * when nothing is missing.
   */
  readonly partial: readonly MissingSet[];
  /** Who answered. */
  readonly from: 'device' | 'hub';
}

export interface WithMetrics<T> extends AnswerScope {
  readonly value: T;
  readonly metrics: QueryMetrics;
}

export interface Observer<T> {
  next(value: T, scope: AnswerScope): void;
  /** The query failed. It runs again when what it read changes, so a value may follow. */
  error?(error: BurrowError): void;
  /** It has ended: `error` was called with the same, and nothing follows. The database was closed or locked, or its worker is lost for good. */
  closed?(reason: BurrowError): void;
}

export interface SubscribeOptions {
  /**
   * Of `sync.client`: where values come from. Left out: from the copy, whatever it holds.
   * - `complete`: from the copy while it holds all that the query reads; otherwise the query fails with `copy_incomplete`.
   * - `hub-or-copy`: from the hub while it can be reached, from the copy until then and otherwise: `from` of the scope says which.
   */
  readonly at?: LivePlace;
  /** Stops it, as the returned function does. */
  readonly signal?: AbortSignal;
}

/** What a client needs from the database it belongs to. */
export interface ClientHost {
  query(secret: string, query: string, options: QueryOptions): Promise<QueryReply>;
  subscribe(
    secret: string,
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

/** The cursor of a page without elements is the one it was given: going from page to page would never end. Whatever else is wrong, the database says. */
const pageSize: Option<unknown> = {
  expected: 'an integer from 1 to 100,000',
  accepts: (given) => !((given as number) < 1),
  defaultValue: undefined,
};

/** Acts on the database with one secret. */
class QueryClient {
  private readonly host: ClientHost;
  private readonly secret: () => string;

  constructor(host: ClientHost, secret: () => string) {
    this.host = host;
    this.secret = secret;
  }

  /**
   * Evaluates an expression as one transaction.
   * @throws QueryError when it fails
   */
  query<T>(expression: Expr<T>, options?: QueryOptions): Promise<T>;
  query<A extends Arg>(expression: A, options?: QueryOptions): Promise<Evaluated<A>>;
  query<T>(expression: Arg, options?: QueryOptions): Promise<T>;
  async query(expression: Arg, options: QueryOptions = {}): Promise<unknown> {
    return (await this.queryWithMetrics(expression, options)).value;
  }

  /** `query`, with what it cost. */
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
    const reply = await this.host.query(this.secret(), queryText(expression), options);
    const { metrics, missing: partial = [], isHubs } = reply;
    return { value: await valueOf(reply), metrics, partial, from: isHubs ? 'hub' : 'device' };
  }

  /**
   * Resolves when an index has been built; reading it fails until then.
   * @throws QueryError when there is no such index
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
   * The pages of a set, one after the other: `for await (const page of client.paginate(set))`.
   * @throws UsageError when their `size` is less than 1
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
   * Runs a read now and whenever what it read changes; `next` gets each value that differs from the one before.
   * @returns the way to stop
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
    // A signal may outlive many subscriptions.
    const onEnd = (): void => signal?.removeEventListener('abort', stop);
    const stop = this.host.subscribe(this.secret(), queryText(expression), observer, at, onEnd);
    signal?.addEventListener('abort', stop);
    return stop;
  }
}

/** @throws QueryError when the reply is of a failed query */
export async function valueOf({
  status,
  body,
}: Pick<QueryReply, 'status' | 'body'>): Promise<unknown> {
  if (status < 200 || status >= 300) throw queryError(errorsOf(body), status);
  return ((await decodeWire(body)) as { readonly resource: unknown }).resource;
}

const errorsOf = (body: string): readonly WireError[] =>
  (JSON.parse(body) as { readonly errors: readonly WireError[] }).errors;

/** Acts on the database with one secret: `query` and what belongs to it, and each builder as a call that runs at once. */
export type Client = QueryClient & DirectCalls;

export const makeClient = (host: ClientHost, secret: () => string): Client =>
  new QueryClient(host, secret) as Client;

for (const [name, build] of Object.entries(q as unknown as Record<string, typeof q.Do>))
  Object.defineProperty(QueryClient.prototype, name, {
    async value(this: QueryClient, ...args: Parameters<typeof build>) {
      return this.query(build(...args));
    },
  });
