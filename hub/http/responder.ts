/** Sends responses, and records each in the metrics and the log. */
import type { HttpResponse } from '../../src/http/message.ts';
import type { HubMetrics } from '../monitoring/metrics.ts';
import type { Logger } from '../monitoring/logger.ts';
import type { RequestContext } from './request-context.ts';
import { sendStream, sendText, type StreamedResponse } from './send-response.ts';

export interface ResponderOptions {
  readonly logger: Logger;
  readonly metrics: HubMetrics;
  readonly slowReaderMs: number;
  /** Aborted when the hub is stopping. */
  readonly draining: AbortSignal;
  readonly report: (reason: unknown) => void;
}

/** After a response the rest of the body is still read for so long: closing at once could lose the response. */
const LINGER_MS = 1000;

const SUSPICIOUS: ReadonlySet<number> = new Set([403, 408, 413, 414, 429, 431]);

export class Responder {
  private readonly options: ResponderOptions;

  constructor(options: ResponderOptions) {
    this.options = options;
  }

  send(context: RequestContext, route: string, response: HttpResponse): void {
    const { raw, request } = context;
    const body =
      request.method === 'HEAD' || typeof response.body !== 'string' ? '' : response.body;
    const retry = needsRetryAfter(response) ? { 'retry-after': '1' } : {};
    const close = this.options.draining.aborted ? { connection: 'close' } : {};
    sendText(context.response, { ...response, body }, { ...retry, ...close });
    this.record(context, route, response.status);
    if (raw.complete) return;
    raw.resume();
    setTimeout(() => {
      if (!raw.complete) raw.destroy();
    }, LINGER_MS).unref();
  }

  /** Resolves when the stream has ended. */
  async stream(
    context: RequestContext,
    route: string,
    response: StreamedResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { slowReaderMs, report } = this.options;
    this.record(context, route, response.status);
    try {
      await sendStream(context.response, response, { signal, slowReaderMs });
    } catch (reason) {
      report(reason);
    }
  }

  private record({ request, startedMs }: RequestContext, route: string, status: number): void {
    const { logger, metrics } = this.options;
    const ms = performance.now() - startedMs;
    metrics.countResponse(route, status, ms / 1000);
    const level = status >= 500 ? 'error' : SUSPICIOUS.has(status) ? 'warn' : 'debug';
    if (!logger.isLevelEnabled(level)) return;
    const { method, address } = request;
    logger[level]({ route, method, address, status, ms: Math.round(ms * 10) / 10 }, 'answered');
  }
}

/** Wherever the refusal was made, its caller is told when to retry. */
const needsRetryAfter = ({ status, headers }: HttpResponse): boolean =>
  (status === 429 || status === 503) && headers['retry-after'] === undefined;
