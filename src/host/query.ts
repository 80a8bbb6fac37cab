/** Queries and HTTP requests of the page, and their answers. */
import type { MissingSet, QueryMetrics } from '../answers.ts';

/** Where a query on a copy is answered, if not by the copy regardless of what it holds. See `QueryOptions.at`. */
export type AnswerPlace = 'complete' | 'hub' | 'hub-or-copy';

/** For a live query. `hub` is excluded: while the hub cannot be reached, only the copy can answer. */
export type LivePlace = Exclude<AnswerPlace, 'hub'>;

export interface QueryCall {
  /** Number by which the page can abort the query. */
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
  /** On a copy: sets that the query read and the copy lacks. Absent if nothing is missing. */
  readonly missing?: readonly MissingSet[];
  /** Whether the hub answered. */
  readonly isFromHub?: boolean;
}

export interface HttpCall {
  readonly method: string;
  /** Path and query string. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** For a request that came through the service worker: the prefix of URLs of files. */
  readonly base?: string | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, or the number of a stream whose parts are pulled through the port. */
  readonly body: string | { readonly stream: number };
}
