import type { Refusal } from '../../src/errors.ts';
import { NO_METRICS, metricHeaders, txnHeader } from '../../src/http/answer-headers.ts';
import { dressAnswer } from '../../src/http/handle.ts';
import { answerText, errorText, type HttpHost, type HttpResponse } from '../../src/http/message.ts';
import type { HubRequest } from './route.ts';

interface RefusalHeads {
  readonly retryAfterSeconds?: number;
  /** Another than the code has by itself. */
  readonly status?: number;
}

/** A no of the hub, in the form that the engine's own have. */
export function refusalAnswer(
  request: HubRequest,
  refusal: Refusal,
  http: HttpHost,
  { retryAfterSeconds, status = refusal.status }: RefusalHeads = {},
): HttpResponse {
  const { code, message } = refusal;
  const isPassing = code === 'too many requests' || code === 'storage_blocked';
  const retryAfter = retryAfterSeconds ?? (isPassing ? 1 : undefined);
  const headers = {
    ...txnHeader(http.clock()),
    ...metricHeaders(NO_METRICS),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(code === 'unauthorized' && { 'www-authenticate': 'Basic realm="Unauthorized"' }),
  };
  // The log API has errors of its own form.
  const text = request.path.startsWith('/api/')
    ? JSON.stringify({ message })
    : errorText(code, message);
  return dressAnswer(answerText(status, headers, text), request, http);
}
