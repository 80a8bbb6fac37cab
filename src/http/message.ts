/** Requests and answers as plain data: what crosses a worker, a service worker or a socket is built around them. */
import { refusalBody } from '../engine/session.ts';
import { stringifyJson, type Json } from '../codec/json.ts';
import type { CommitNotice, EngineOptions } from '../engine/host.ts';
import type { Engine } from '../engine/engine.ts';
import { REFUSALS, type RefusalCode } from '../errors.ts';
import type { LogExports } from '../logs/exports.ts';
import type { QueryLog } from '../logs/query-log.ts';

export interface HttpRequest {
  readonly method: string;
  /** Path and query string, as sent; host and scheme left off. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Where this surface stands for the caller, without a slash at the end: URLs of files begin with it. Undefined: they are `burrow-file:<request id>/<version>`. */
  readonly base?: string | undefined;
  /** Where it came from, over a network. */
  readonly address?: string | undefined;
}

export type Headers = Readonly<Record<string, string>>;

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Headers;
  /** A stream ends when its consumer returns; text is UTF-8. */
  readonly body: string | AsyncIterable<string> | AsyncIterable<Uint8Array>;
}

/** What the HTTP surface stands on. */
export interface HttpHost extends Pick<EngineOptions, 'clock' | 'random'> {
  readonly engine: Engine;
  /** Name and version, in `x-faunadb-build`. */
  readonly build: string;
  /** Commits that streams look at. Left out: those of `engine`. */
  readonly onCommit?: (listener: (notice: CommitNotice) => void) => () => void;
  /** Absent: nothing is logged. */
  readonly log?: QueryLog;
  /** Absent: the log API answers 404. */
  readonly exports?: LogExports;
  /** Which pages may ask; absent: any. */
  readonly cors?: CorsPolicy;
  /** How long a query may take when the caller says nothing, and whatever the caller says. Absent: as the engine has it. */
  readonly queryTime?: { readonly defaultMs: number; readonly maxMs: number };
  /** Hears of failures that are ours. */
  readonly report?: (reason: unknown) => void;
}

const JSON_TYPE = 'application/json;charset=utf-8';

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

/** Which pages may ask. Without one, any page may: what is served stays within the browser. */
export interface CorsPolicy {
  readonly allows: (origin: string) => boolean;
}
