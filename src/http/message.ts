/** Requests and responses as plain data, which can be sent between workers, service workers and sockets. */
import { refusalBody } from '../engine/session.ts';
import type { Fault } from '../errors.ts';
import type { CommitNotice, EngineOptions } from '../engine/host.ts';
import type { Engine } from '../engine/engine.ts';
import { REFUSALS, type RefusalCode } from '../errors.ts';
import type { LogExports } from '../logs/exports.ts';
import type { QueryLog } from '../logs/query-log.ts';

export interface HttpRequest {
  readonly method: string;
  /** Path and query string as sent, without scheme and host. */
  readonly path: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** A long body, instead of `body`: undecoded UTF-8 in parts. Only for queries and documents that another thread executes. */
  readonly bodyParts?: readonly Uint8Array<ArrayBuffer>[] | undefined;
  /**
   * Base URL of the API as the caller sees it, without a trailing slash. URLs of export files begin with it. If undefined, they are
   * `burrow-file:<request id>/<version>`.
   */
  readonly base?: string | undefined;
  /** Network address of the caller. */
  readonly address?: string | undefined;
  /** Aborted when the caller has disconnected. */
  readonly signal?: AbortSignal;
  /** The same, but reading it does not create the signal, which a host may create on demand only. Every query checks this. */
  readonly isGone?: boolean;
}

export type Headers = Readonly<Record<string, string>>;

export interface HttpResponse {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Headers;
  /** The host stops a stream by the iterator's `return()`. Text is sent as UTF-8. */
  readonly body: string | AsyncIterable<string | Uint8Array>;
  /** The body as bytes; `body` is then empty. */
  readonly bytes?: Uint8Array;
  /** Errors of the query, for the log of the host. */
  readonly faults?: readonly Fault[];
}

/** What the HTTP API needs from its host. */
export interface HttpHost extends Pick<EngineOptions, 'clock' | 'random'> {
  readonly engine: Engine;
  /** Name and version of the build, for the header `x-faunadb-build`. */
  readonly build: string;
  /** Subscribes to commits, for streams. If absent, the commits of `engine`. */
  readonly onCommit?: (listener: (notice: CommitNotice) => void) => () => void;
  /** If absent, nothing is logged. */
  readonly log?: Pick<QueryLog, 'add' | 'flush' | 'isDirty' | 'counts'> | undefined;
  /** If absent, the log API responds with 404. */
  readonly exports?: LogExports;
  /** Which origins of pages are allowed. If absent, all. */
  readonly cors?: CorsPolicy;
  /** Default and maximum time of a query. If absent, those of the engine. */
  readonly queryTime?: { readonly defaultMs: number; readonly maxMs: number };
  /** Yields to the event loop between slices of long work. If absent, the work is done without pauses. */
  readonly pause?: () => Promise<void>;
  /** Receives internal errors. */
  readonly report?: (reason: unknown) => void;
}

export const JSON_TYPE = 'application/json;charset=utf-8';

export const answerText = (status: number, headers: Headers, text: string): HttpResponse => ({
  status,
  headers: text === '' ? headers : { ...headers, 'content-type': JSON_TYPE },
  body: text,
});

export const refuse = (
  code: RefusalCode,
  description: string,
  headers: Headers = {},
): HttpResponse => answerText(REFUSALS[code].status, headers, refusalBody(code, description));

export const UNAUTHORIZED_HEADERS = { 'www-authenticate': 'Basic realm="Unauthorized"' } as const;

export const refuseUnauthorized = (headers: Headers): HttpResponse =>
  refuse('unauthorized', 'Unauthorized', { ...headers, ...UNAUTHORIZED_HEADERS });

/** Which origins of pages are allowed. Without a policy all are, because then responses do not leave the browser. */
export interface CorsPolicy {
  readonly allows: (origin: string) => boolean;
}
