/** The HTTP API of an engine: from a plain request object to a plain response object. Spec: auth 4. */
import { stringifyJson } from '../codec/json.ts';
import { NO_METRICS, refusalBody } from '../engine/session.ts';
import type { QueryAnswer } from '../engine/host.ts';
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { metricHeaders, retryHeader, txnHeader } from './answer-headers.ts';
import {
  afterAuthentication,
  answerOf,
  errorOf,
  runQuery,
  type QueryInput,
  type ReceivedRequest,
} from './answer-query.ts';
import { secretOf } from './authorization.ts';
import { isTooLarge } from './body-size.ts';
import { answerPreflight, isForeign, withCors } from './cors.ts';
import { answerFile, answerLogs } from './log-routes.ts';
import {
  answerText,
  refuse,
  type HttpHost,
  type HttpRequest,
  type HttpResponse,
} from './message.ts';
import { prettyJson } from './pretty-json.ts';
import {
  HeaderFault,
  isFormatted,
  readHeaders,
  tagsByKey,
  type RequestOptions,
} from './request-headers.ts';
import { NO_OBJECT, restQuery, type RestTarget } from './rest-query.ts';
import { findPlace, type Place } from './routes.ts';
import { answerStream, answerUrlFault } from './stream.ts';
import { traceparentOf } from './trace-context.ts';

/** Never rejects: errors become responses. */
export async function handleRequest(request: HttpRequest, host: HttpHost): Promise<HttpResponse> {
  const traceparent = traceparentOf(request.headers['traceparent'], host.random);
  const answer = await route(request, host, traceparent).catch((reason: unknown) => {
    if (reason instanceof Refusal)
      return refuse(reason.code, reason.message, txnHeader(host.clock()));
    host.report?.(reason);
    const text = 'Internal error in the database while handling the request.';
    return refuse('internal server error', text, txnHeader(host.clock()));
  });
  return dressAnswer(answer, request, host, traceparent);
}

/**
 * Adds the headers that all responses have, and indents errors for people. Also called for responses that were made without
 * `handleRequest`.
 */
export function dressAnswer(
  answer: HttpResponse,
  request: HttpRequest,
  host: Pick<HttpHost, 'build' | 'cors' | 'random'>,
  traceparent: string = traceparentOf(request.headers['traceparent'], host.random),
): HttpResponse {
  const tags = request.headers['x-fauna-tags'];
  const headers = {
    ...retryHeader(answer),
    ...answer.headers,
    ...(tags !== undefined && { 'x-fauna-tags': tagsByKey(tags) }),
    'x-faunadb-build': host.build,
    traceparent,
  };
  const isShown = !isForeign(request, host.cors);
  const { status, body } = answer;
  const isIndented = status >= 400 && typeof body === 'string' && isFormatted(request.headers);
  return {
    ...answer,
    headers: isShown ? withCors(headers, request.headers['origin']) : headers,
    body: isIndented ? prettyJson(body) : body,
  };
}

/** The checks are made in this order: origin, preflight, unknown route, size, headers, secret, method. */
async function route(
  request: HttpRequest,
  host: HttpHost,
  traceparent: string,
): Promise<HttpResponse> {
  if (isForeign(request, host.cors))
    return refuse('forbidden', 'Pages of this origin may not use this hub.', emptyHeaders(host));
  const preflight = answerPreflight(request);
  if (preflight) return preflight;
  const arrived = host.clock();
  const place = findPlace(request.path);
  const { route: found } = place;
  if (found.to === 'logs') return answerLogs(request, found.rest, place.parameters, host);
  if (found.to === 'file') return answerFile(request, found, place.parameters, host);
  if (found.to === 'nowhere') return refuse('not found', 'Not found', emptyHeaders(host));
  if (isTooLarge(request.body))
    return refuse(
      'request too large',
      `The body is larger than ${LIMITS.requestBytes} bytes.`,
      emptyHeaders(host),
    );
  const options = requestOptionsIn(request);
  if (options instanceof HeaderFault)
    return refuse('bad request', options.message, options.carriesMetrics ? emptyHeaders(host) : {});
  const secret = secretOf(request.headers['authorization']);
  const call = { request, host, options, secret, path: place.path, traceparent, arrived };
  return answerCall(call, place);
}

const emptyHeaders = (host: HttpHost) => ({
  ...txnHeader(host.clock()),
  ...metricHeaders(NO_METRICS),
});

function requestOptionsIn(request: HttpRequest): RequestOptions | HeaderFault {
  try {
    return readHeaders(request);
  } catch (reason) {
    if (reason instanceof HeaderFault) return reason;
    throw reason;
  }
}

async function answerCall(
  call: ReceivedRequest,
  { route: found, parameters }: Place,
): Promise<HttpResponse> {
  const { method, body = '', bodyParts } = call.request;
  switch (found.to) {
    case 'query':
      if (method === 'POST') return answerQuery(call, body, 'write', bodyParts);
      if (method === 'GET') return answerQuery(call, parameters.get('q') ?? '', 'read');
      return refuseMethod(call);
    case 'linearized':
      return method === 'POST'
        ? answerQuery(call, body, 'write', bodyParts)
        : refuseMethod(call, 'POST');
    case 'stream':
      return method === 'POST' ? answerStream(call, parameters, body) : refuseMethod(call, 'POST');
    case 'rest':
      return answerRest(call, found.target, parameters);
    case 'ping':
      return answerUtility(call, () => answerPing(call, parameters));
    case 'authorized':
      return answerUtility(call, () => answerAuthorized(call));
    case 'error':
      return answerUtility(call, () =>
        Promise.resolve(
          refuse('internal server error', 'This route always fails.', txnHeader(call.host.clock())),
        ),
      );
    default:
      // `route` has answered logs, files and unknown paths already.
      throw new Error(`No handler for the route ${found.to}.`);
  }
}

async function answerQuery(
  call: ReceivedRequest,
  query: string,
  allows: 'write' | 'read',
  queryParts?: QueryInput['queryParts'],
): Promise<HttpResponse> {
  const placeName = allows === 'read' ? { placeName: 'get requests' } : {};
  return answerOf(
    call,
    await runQuery(call, { query, queryParts, allows, takesBytes: true, ...placeName }),
  );
}

const refuseMethod = (call: ReceivedRequest, allow = 'GET, POST'): Promise<HttpResponse> =>
  afterAuthentication(call, () => wrongMethod(call, allow));

const wrongMethod = ({ host }: ReceivedRequest, allow: string): HttpResponse =>
  refuse('method not allowed', 'Method not allowed', { ...emptyHeaders(host), allow });

/** Utility routes require no secret. HEAD is GET without a body. */
async function answerUtility(
  call: ReceivedRequest,
  answer: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { method } = call.request;
  if (method !== 'GET' && method !== 'HEAD') return wrongMethod(call, 'GET, HEAD');
  const full = await answer();
  return method === 'HEAD' ? { ...full, body: '' } : full;
}

const PING_SCOPES = new Map([
  ['write', 'write'],
  ['global', 'write'],
  ['read', 'read'],
  ['local', 'read'],
  ['all', 'all'],
]);

async function answerPing(
  { host }: ReceivedRequest,
  parameters: URLSearchParams,
): Promise<HttpResponse> {
  const scope = PING_SCOPES.get(parameters.get('scope') ?? 'write') ?? 'node';
  return answerText(200, emptyHeaders(host), `{"resource":"Scope ${scope} is OK"}`);
}

const answerAuthorized = (call: ReceivedRequest): Promise<HttpResponse> =>
  afterAuthentication(call, ({ globalId }) => {
    const { host } = call;
    const members = new Map([
      ['account', host.build],
      ['global_id', globalId],
    ]);
    return answerText(200, emptyHeaders(host), stringifyJson(members));
  });

async function answerRest(
  call: ReceivedRequest,
  target: RestTarget,
  parameters: URLSearchParams,
): Promise<HttpResponse> {
  const { request, host } = call;
  const { method, body, bodyParts } = request;
  const input = restQuery(target, method, parameters, body);
  if (input === 'method not allowed') return refuseMethod(call);
  if (input === 'invalid url parameter') return answerUrlFault(call, 'size must be an integer.');
  if (input === 'invalid body')
    return afterAuthentication(call, () => refuse('bad request', NO_OBJECT, emptyHeaders(host)));
  if (await isForbidden(call, target)) {
    return refuse(
      'forbidden',
      'Only the root secret can change keys here. Use a query.',
      emptyHeaders(host),
    );
  }
  const place = input.allows === 'read' ? { placeName: 'get requests' } : {};
  const queryParts = method === 'DELETE' ? undefined : bodyParts;
  const answer = await runQuery(call, { ...input, queryParts, ...place });
  if (!isUnknownTarget(target, answer)) return answerOf(call, answer);
  return answerOf(call, { ...answer, status: 404, body: refusalBody('not found', 'Not found') });
}

/** On this route only the root secret may change keys; with other secrets, keys are changed by queries. */
async function isForbidden(
  { request, host, secret }: ReceivedRequest,
  target: RestTarget,
): Promise<boolean> {
  if (target.of !== 'member' || target.kind !== 'keys') return false;
  if (request.method !== 'PUT' && request.method !== 'PATCH') return false;
  const credential = secret === undefined ? undefined : await host.engine.authenticate(secret);
  return credential !== undefined && credential.label.kind !== 'root';
}

/** If the path refers to an object that does not exist, the response is the same as for an unknown route. */
function isUnknownTarget(target: RestTarget, answer: QueryAnswer): boolean {
  if (answer.status === 401 || answer.status < 400) return false;
  const { code, position } = errorOf(answer);
  if (position.includes('params')) return false;
  if (target.of === 'self') return code === 'invalid expression' || code === 'instance not found';
  return code === 'invalid ref' || (code === 'invalid argument' && position.at(-1) === 'id');
}
