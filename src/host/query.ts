/** Queries and requests of the page, and their answers. */
import type { QueryMetrics } from '../answers.ts';

export interface QueryCall {
  /** By which the page may abort it. */
  readonly number?: number | undefined;
  readonly secret: string;
  /** Wire JSON. */
  readonly query: string;
  readonly timeoutMs: number | undefined;
  /** Asks the hub, not the copy. */
  readonly at?: 'hub' | undefined;
  /** `k=v,k=v`, for the query log. */
  readonly tags: string | undefined;
  readonly traceparent: string | undefined;
}

export interface QueryReply {
  readonly status: number;
  /** `{"resource":…}` or `{"errors":[…]}`. */
  readonly body: string;
  readonly metrics: QueryMetrics;
}

export interface HttpCall {
  readonly method: string;
  /** Path and query string. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Of a call that came through the service worker: where URLs of files begin. */
  readonly base?: string | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** All of it; or the number of a stream, to be pulled through the port. */
  readonly body: string | { readonly stream: number };
}
