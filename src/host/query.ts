/** Queries and requests of the page, and their answers. */
import type { MissingSet, QueryMetrics } from '../answers.ts';

/** Where a query on a copy may be answered, if not by the copy whatever it holds. */
export type AnswerPlace = 'complete' | 'hub' | 'hub-or-copy';

/** Of a live query: while the hub cannot be reached, there is no answer but the copy's. */
export type LivePlace = Exclude<AnswerPlace, 'hub'>;

export interface QueryCall {
  /** By which the page may abort it. */
  readonly number?: number | undefined;
  readonly secret: string;
  /** Wire JSON. */
  readonly query: string;
  readonly timeoutMs?: number | undefined;
  readonly at?: AnswerPlace | undefined;
  /** `k=v,k=v`, for the query log. */
  readonly tags?: string | undefined;
  readonly traceparent?: string | undefined;
}

export interface QueryReply {
  readonly status: number;
  /** `{"resource":…}` or `{"errors":[…]}`. */
  readonly body: string;
  readonly metrics: QueryMetrics;
  /** Of a copy; absent when nothing is missing. */
  readonly missing?: readonly MissingSet[];
  /** The hub was asked. */
  readonly isHubs?: boolean;
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
