/** Executes the query of an HTTP request and makes the response. */
import type { QueryMetrics } from '../answers.ts';
import { detailedBody, refusedAnswer } from '../engine/session.ts';
import { parseJson } from '../codec/json.ts';
import type { Step } from '../errors.ts';
import { utf8Length } from '../codec/utf8.ts';
import { LIMITS } from '../limits.ts';
import type { Credential, QueryAnswer, QueryRequest } from '../engine/host.ts';
import type { LoggedAnswer } from '../logs/record.ts';
import type { Micros } from '../values/value.ts';
import { metricHeaders, noticeHeader, txnHeader } from './answer-headers.ts';
import {
  answerText,
  JSON_TYPE,
  refuseUnauthorized,
  UNAUTHORIZED_HEADERS,
  type HttpHost,
  type HttpRequest,
  type HttpResponse,
} from './message.ts';
import { prettyJson, prettyJsonInSlices } from './pretty-json.ts';
import type { RequestOptions } from './request-headers.ts';

/** A request whose headers have been parsed. */
export interface ReceivedRequest {
  readonly request: HttpRequest;
  readonly host: HttpHost;
  readonly options: RequestOptions;
  readonly secret: string | undefined;
  readonly path: string;
  readonly traceparent: string;
  readonly arrived: Micros;
}

export interface QueryInput {
  /** Wire JSON text. */
  readonly query: string;
  /** Used instead of `query`: see `QueryRequest`. */
  readonly queryParts?: QueryRequest['queryParts'];
  readonly allows: 'write' | 'read';
  readonly placeName?: string | undefined;
  /** The caller sends the response body unchanged, so the engine may return it as bytes. */
  readonly takesBytes?: boolean;
}

/** Refuses a request without a valid secret. Called before other errors are reported, so that an invalid secret is reported first. */
export async function afterAuthentication(
  { host, secret }: ReceivedRequest,
  answer: (credential: Credential) => HttpResponse,
): Promise<HttpResponse> {
  const credential = secret === undefined ? undefined : await host.engine.authenticate(secret);
  return credential ? answer(credential) : refuseUnauthorized(txnHeader(host.clock()));
}

/** Executes and logs a query. A refusal becomes a response; other errors of the engine are rethrown. */
export async function runQuery(call: ReceivedRequest, input: QueryInput): Promise<QueryAnswer> {
  const { host, options, secret } = call;
  const timeoutMs = queryTimeOf(options, host);
  const answer = await host.engine
    .query({
      secret,
      query: input.query,
      queryParts: input.queryParts,
      apiVersion: options.apiVersion,
      allows: input.allows,
      placeName: input.placeName,
      lastSeenTxn: options.lastSeenTxn,
      timeoutMs,
      retriesMax: options.retriesMax,
      address: call.request.address,
      ...(input.takesBytes && !options.isFormatted && !options.isTraced && { takesBytes: true }),
      isAbandoned: () => call.request.isGone ?? call.request.signal?.aborted ?? false,
    })
    .catch((reason: unknown) => refusedAnswer(reason, host.clock()));
  record(call, input.queryParts ? '' : input.query, answer);
  return answer;
}

function queryTimeOf({ timeoutMs }: RequestOptions, { queryTime }: HttpHost): number | undefined {
  if (!queryTime) return timeoutMs;
  return Math.min(timeoutMs ?? queryTime.defaultMs, queryTime.maxMs);
}

function record(call: ReceivedRequest, query: string, answer: QueryAnswer): void {
  const { request, host, options } = call;
  host.log?.add(
    {
      ts: call.arrived,
      method: request.method,
      path: call.path,
      query,
      apiVersion: options.apiVersion,
      userAgent: request.headers['user-agent'],
      forwardedFor: request.headers['x-forwarded-for'],
      tags: options.tags,
      traceparent: call.traceparent,
    },
    loggedAnswer(answer),
  );
}

/** The parts of an answer that the query log needs. */
export function loggedAnswer(answer: QueryAnswer): LoggedAnswer {
  const { status, database, metrics, credential, readSet, scanned } = answer;
  const error = status < 400 ? undefined : errorOf(answer);
  const { code: errorCode, position: errorPosition } = error ?? {};
  return { status, database, metrics, credential, errorCode, errorPosition, readSet, scanned };
}

/** The first error of an answer with errors. */
export function errorOf({ faults, body }: Pick<QueryAnswer, 'faults' | 'body'>): {
  readonly code: string | undefined;
  readonly position: readonly Step[];
} {
  const [fault] = faults ?? [];
  if (fault) return fault;
  const answer = parseJson(body);
  const errors = answer instanceof Map ? answer.get('errors') : undefined;
  const error: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const code: unknown = error instanceof Map ? error.get('code') : undefined;
  return { code: typeof code === 'string' ? code : undefined, position: [] };
}

export async function answerOf(call: ReceivedRequest, answer: QueryAnswer): Promise<HttpResponse> {
  const { status, metrics, txnTime } = answer;
  const body = await bodyOf(call, answer);
  const bytesOut = body === answer.body ? metrics.bytesOut : utf8Length(body);
  const told = bytesOut === metrics.bytesOut ? metrics : { ...metrics, bytesOut };
  const headers = answerHeaders(status, txnTime, told);
  if (call.options.isTraced && status !== 401 && status !== 500)
    headers['x-faunadb-host'] = 'burrow';
  if (answer.notices) Object.assign(headers, noticeHeader(answer.notices));
  if (answer.until) headers['retry-after'] = String(Math.ceil((answer.until - txnTime) / 1e6));
  const response = answerText(status, headers, body);
  const { bytes, faults } = answer;
  if (bytes) return { ...response, headers: { ...headers, 'content-type': JSON_TYPE }, bytes };
  return faults ? { ...response, faults } : response;
}

/** All responses except 401 and 500 have metrics. */
export function answerHeaders(
  status: number,
  txnTime: Micros,
  metrics: QueryMetrics,
): Record<string, string> {
  const headers =
    status === 401
      ? { ...UNAUTHORIZED_HEADERS }
      : status === 500
        ? ({} as Record<string, string>)
        : metricHeaders(metrics);
  return Object.assign(headers, txnHeader(txnTime));
}

async function bodyOf(
  { request: { headers }, options: { isFormatted, isTraced }, host: { pause } }: ReceivedRequest,
  { status, body: plain, metrics, faults, hasOwnRights }: QueryAnswer,
): Promise<string> {
  // Burrow's own client gets detailed errors, as a query in a page does, because developers read them.
  const isDetailed = hasOwnRights && headers['x-fauna-driver'] === 'burrow';
  const body = isDetailed && faults ? detailedBody(faults) : plain;
  const isWithTrace = isTraced && status !== 401 && status !== 500 && body.endsWith('}');
  const traced = isWithTrace
    ? `${body.slice(0, -1)},"trace":[{"name":"query","duration_ms":${metrics.queryTime}}]}`
    : body;
  // Errors are indented where those of all responses are (`dressAnswer`).
  if (!isFormatted || status >= 400) return traced;
  return pause && traced.length > LIMITS.longTextChars
    ? prettyJsonInSlices(traced, pause)
    : prettyJson(traced);
}
