import { hideSecretTexts } from '../../src/engine/access.ts';
import { NO_METRICS, refusalBody } from '../../src/engine/session.ts';
import { REFUSALS, type Refusal, type RefusalCode } from '../../src/errors.ts';
import { metricHeaders, txnHeader } from '../../src/http/answer-headers.ts';
import { dressAnswer } from '../../src/http/handle.ts';
import {
  answerText,
  UNAUTHORIZED_HEADERS,
  type HttpHost,
  type HttpRequest,
} from '../../src/http/message.ts';
import type { NotedResponse } from '../monitoring/response-note.ts';

/**
 * The reason for refusing a request. Not an Error: creating one captures a stack trace, which is too slow when thousands of
 * requests are refused per second.
 */
export interface Refused extends Pick<Refusal, 'code' | 'message'> {
  readonly cause?: unknown;
  readonly retryAfterSeconds?: number;
}

const METRICS = metricHeaders(NO_METRICS);

/**
 * A refusal by the hub itself, in the form that the callers of the path expect.
 * @param status by default the one that belongs to the code
 */
export function refusalResponse(
  request: HttpRequest,
  { code, message, cause, retryAfterSeconds }: Refused,
  http: HttpHost,
  status: number = REFUSALS[code].status,
): NotedResponse {
  const headers = {
    ...txnHeader(http.clock()),
    ...METRICS,
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    ...(code === 'unauthorized' && UNAUTHORIZED_HEADERS),
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
