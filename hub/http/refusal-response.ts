import { hideSecretTexts } from '../../src/engine/access.ts';
import { NO_METRICS, refusalBody } from '../../src/engine/session.ts';
import { REFUSALS, type Refusal, type RefusalCode } from '../../src/errors.ts';
import { metricHeaders, txnHeader } from '../../src/http/answer-headers.ts';
import { dressAnswer } from '../../src/http/handle.ts';
import { answerText, type HttpHost, type HttpRequest } from '../../src/http/message.ts';
import type { NotedResponse } from '../monitoring/response-note.ts';

interface RefusalOptions {
  readonly retryAfterSeconds?: number;
  /** Used instead of the status that belongs to the code. */
  readonly status?: number;
}

/**
 * The reason for refusing a request. Not an Error: creating one captures a stack trace, which is too slow when thousands of
 * requests are refused per second.
 */
type Refused = Pick<Refusal, 'code' | 'message'> & { readonly cause?: unknown };

const METRICS = metricHeaders(NO_METRICS);

/** A refusal by the hub itself, in the form that the callers of the path expect. */
export function refusalResponse(
  request: HttpRequest,
  { code, message, cause }: Refused,
  http: HttpHost,
  { retryAfterSeconds, status = REFUSALS[code].status }: RefusalOptions = {},
): NotedResponse {
  const isTransient = code === 'too many requests' || code === 'storage_blocked';
  const retryAfter = retryAfterSeconds ?? (isTransient ? 1 : undefined);
  const headers = {
    ...txnHeader(http.clock()),
    ...METRICS,
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(code === 'unauthorized' && { 'www-authenticate': 'Basic realm="Unauthorized"' }),
  };
  const text = bodyOf(request.path, code, message);
  const response = dressAnswer(answerText(status, headers, text), request, http);
  return cause instanceof Error ? { ...response, note: hideSecretTexts(cause.message) } : response;
}

const OF_DEVICES = /^\/(?:sync|files)\//;

/** The log API and devices have error formats of their own. */
function bodyOf(path: string, code: RefusalCode, message: string): string {
  if (path.startsWith('/api/')) return JSON.stringify({ message });
  // A device sends less at a time after a response that is not in its format, as after that of a proxy.
  if (OF_DEVICES.test(path) && code !== 'request too large')
    return JSON.stringify({ code, description: message });
  return refusalBody(code, message);
}
