/** CORS headers for pages of other origins. Spec: auth 4.3. */
import type { CorsPolicy, Headers, HttpRequest, HttpResponse } from './message.ts';

const ALLOWED_HEADERS = [
  'accept-encoding',
  'authorization',
  'content-type',
  'traceparent',
  'x-driver-env',
  'x-faunadb-api-version',
  'x-fauna-driver',
  'x-fauna-source',
  'x-fauna-tags',
  'x-format',
  'x-last-seen-txn',
  'x-last-txn-ts',
  'x-linearized',
  'x-max-contention-retries',
  'x-max-retries-on-contention',
  'x-query-tags',
  'x-query-timeout',
  'x-query-timeout-ms',
  'x-runtime-environment',
  'x-runtime-environment-os',
  'x-nodejs-version',
  'x-typecheck',
  'x-performance-hints',
  // Burrow's own headers, for compressed pushes and for resuming streams of changes.
  'content-encoding',
  'last-event-id',
].join(', ');

/** Whether the request comes from a page whose origin the policy does not allow. */
export const isForeign = ({ headers }: HttpRequest, policy: CorsPolicy | undefined): boolean => {
  const origin = headers['origin'];
  return policy !== undefined && origin !== undefined && !policy.allows(origin);
};

/** The response to a CORS preflight request, which needs no secret. Undefined if the request is not a preflight. */
export function answerPreflight({ method, headers }: HttpRequest): HttpResponse | undefined {
  if (method !== 'OPTIONS' || headers['origin'] === undefined) return undefined;
  return {
    status: 200,
    headers: {
      'access-control-max-age': '86400',
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': ALLOWED_HEADERS,
    },
    body: '',
  };
}

const isExposed = (name: string): boolean => name.startsWith('x-') || name === 'retry-after';

/** Without the exposed names, a driver in a page of another origin could not read the transaction time and the metrics. */
export function withCors(headers: Headers, origin: string | undefined): Headers {
  if (origin === undefined) return headers;
  return {
    ...headers,
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': Object.keys(headers).filter(isExposed).join(', '),
    vary: 'Origin',
  };
}
