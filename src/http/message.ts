/** Requests and responses as plain data, which can be sent between workers, service workers and sockets. */
import { refusalBody } from '../engine/session.ts';
import { stringifyJson, type Json } from '../codec/json.ts';
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
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** In place of `body`, of one that is long: UTF-8 in parts, which nobody has read yet. For queries and documents, where others execute long ones. */
  readonly bodyParts?: readonly Uint8Array<ArrayBuffer>[] | undefined;
  /**
   * Base URL of the API for the caller, without a slash at the end: URLs of files begin with it. Undefined: they are
   * `burrow-file:<request id>/<version>`.
   */
  readonly base?: string | undefined;
  /** Network address of the caller. */
  readonly address?: string | undefined;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal;
  /** The same, where a signal is made for whoever asks for it: every query looks at this. */
  readonly isGone?: boolean;
}

export type Headers = Readonly<Record<string, string>>;

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Headers;
  /** A stream ends when its consumer returns. Text is UTF-8. */
  readonly body: string | AsyncIterable<string | Uint8Array>;
  /** In place of `body`, which is then empty. */
  readonly bytes?: Uint8Array;
  /** For the log of the host. */
  readonly faults?: readonly Fault[];
}

/** What the HTTP API needs of its host. */
export interface HttpHost extends Pick<EngineOptions, 'clock' | 'random'> {
  readonly engine: Engine;
  /** Name and version, in `x-faunadb-build`. */
  readonly build: string;
  /** Commits that streams follow. Left out: those of `engine`. */
  readonly onCommit?: (listener: (notice: CommitNotice) => void) => () => void;
  /** Absent: nothing is logged. */
  readonly log?: Pick<QueryLog, 'add' | 'flush' | 'isDirty' | 'counts'> | undefined;
  /** Absent: the log API answers 404. */
  readonly exports?: LogExports;
  /** Allowed origins of pages; absent: all. */
  readonly cors?: CorsPolicy;
  /** Default and maximum time of a query. Absent: those of the engine. */
  readonly queryTime?: { readonly defaultMs: number; readonly maxMs: number };
  /** Gives the event loop a turn between slices of long work; absent: it is done at once. */
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

export const answerJson = (status: number, headers: Headers, json: Json): HttpResponse =>
  answerText(status, headers, stringifyJson(json));

export const refuse = (
  code: RefusalCode,
  description: string,
  headers: Headers = {},
): HttpResponse => answerText(REFUSALS[code].status, headers, refusalBody(code, description));

export const UNAUTHORIZED_HEADERS = { 'www-authenticate': 'Basic realm="Unauthorized"' } as const;

export const refuseUnauthorized = (headers: Headers = {}): HttpResponse =>
  refuse('unauthorized', 'Unauthorized', { ...headers, ...UNAUTHORIZED_HEADERS });

/** Allowed origins of pages. Without a policy all are allowed, because responses do not leave the browser. */
export interface CorsPolicy {
  readonly allows: (origin: string) => boolean;
}
