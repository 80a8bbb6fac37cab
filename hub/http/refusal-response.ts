import { hideSecretTexts } from '../../src/engine/access.ts';
import { NO_METRICS, refusalBody } from '../../src/engine/session.ts';
import { REFUSALS, type Refusal } from '../../src/errors.ts';
import { metricHeaders, txnHeader } from '../../src/http/answer-headers.ts';
import { dressAnswer } from '../../src/http/handle.ts';
import { answerText, type HttpHost, type HttpRequest } from '../../src/http/message.ts';
import type { NotedResponse } from '../monitoring/response-note.ts';

interface RefusalOptions {
  readonly retryAfterSeconds?: number;
  /** In place of the status of the code. */
  readonly status?: number;
}

/** Why a request is refused. No error where nobody throws it: each would have a stack, and a flood is refused thousands of times a second. */
type Refused = Pick<Refusal, 'code' | 'message'> & { readonly cause?: unknown };

const METRICS = metricHeaders(NO_METRICS);

/** A refusal by the hub itself, in the form of the engine's. */
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
  // The log API has its own form of errors.
  const text = request.path.startsWith('/api/')
    ? JSON.stringify({ message })
    : refusalBody(code, message);
  const response = dressAnswer(answerText(status, headers, text), request, http);
  return cause instanceof Error ? { ...response, note: hideSecretTexts(cause.message) } : response;
}
