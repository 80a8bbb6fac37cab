/** Sends responses and records each in the metrics and the log. */
import { setTimeout as wait } from 'node:timers/promises';
import { dressAnswer } from '../../src/http/handle.ts';
import { refuse } from '../../src/http/message.ts';
import { noteOf, type NotedResponse } from '../monitoring/response-note.ts';
import { discardBody } from './paced-reading.ts';
import type { RequestContext } from './request-context.ts';
import {
  breakOff,
  ifUnread,
  sendInParts,
  sendStream,
  sendText,
  type StreamedResponse,
} from './send-response.ts';
import type { ServerParts } from './server-options.ts';

/** Longer answers are written in parts and counted until they are read. */
const LONG_CHARS = 64 * 1024;
/**
 * Over HTTP/2, the part of an answer that the client does not accept stays in the memory of this process. An answer longer than
 * this is only sent if the limits leave room for it.
 */
const SHORT_CHARS = 4 * 1024;

/** The query has been executed. Only its answer is dropped, as if the connection had broken. */
const NOT_HELD = refuse(
  'storage_unavailable',
  'The query was executed, but its answer is not sent: too many earlier answers are still unread.',
  { 'cache-control': 'no-store' },
);

/** How long the rest of a request body is read after the response: closing at once could lose the response. */
const LINGER_MS = 1000;

const SUSPICIOUS: ReadonlySet<number> = new Set([403, 408, 413, 414, 429, 431]);

export class Responder {
  private readonly parts: ServerParts;

  constructor(parts: ServerParts) {
    this.parts = parts;
  }

  /** Resolves at once; for a long answer when it has been read, and for a refusal that is delayed when it is sent. */
  async send(context: RequestContext, route: string, response: NotedResponse): Promise<void> {
    const { raw, request } = context;
    if (response.status === 429) await this.delayRefusal(request.address);
    if (response.bytes && request.method !== 'HEAD')
      return this.sendLong(context, route, response, response.bytes);
    const { body: text } = response;
    const body = typeof text === 'string' && request.method !== 'HEAD' ? text : '';
    if (body.length > LONG_CHARS) return this.sendLong(context, route, response, body);
    if (!this.hasRoomFor(context, body)) return this.refuseUnread(context, route);
    const headers = {
      ...response.headers,
      ...(this.parts.draining.aborted && { connection: 'close' }),
    };
    sendText(context.response, { ...response, headers, body });
    ifUnread(context.response, () => this.countUntilRead(context, body));
    this.record(context, route, response);
    if (raw.complete) return;
    discardBody(raw, request.address);
    setTimeout(() => {
      if (!raw.complete) raw.destroy();
    }, LINGER_MS).unref();
  }

  private async delayRefusal(address: string): Promise<void> {
    const ms = this.parts.admission.refusalDelayMs(address);
    if (ms > 0) await wait(ms);
  }

  private async sendLong(
    context: RequestContext,
    route: string,
    response: NotedResponse,
    body: string | Uint8Array,
  ): Promise<void> {
    const { admission, settings, http } = this.parts;
    const { slowReaderMs } = settings;
    const bytes = Buffer.byteLength(body);
    const release = admission.answers.hold(context.credential.name, bytes);
    if (!release) return this.refuseUnread(context, route);
    this.record(context, route, response);
    try {
      await sendInParts(context.response, response, body, { bytes, slowReaderMs });
    } catch (reason) {
      http.report?.(reason);
    } finally {
      release();
    }
  }

  private hasRoomFor({ response, credential }: RequestContext, body: string): boolean {
    if (body.length <= SHORT_CHARS || !('stream' in response)) return true;
    return this.parts.admission.answers.fits(credential.name, Buffer.byteLength(body));
  }

  /** Counts an answer until the client has read it. A client that has not read it after `slowReaderMs` is disconnected. */
  private countUntilRead({ response, credential }: RequestContext, body: string): void {
    const { admission, settings } = this.parts;
    const release = admission.answers.add(credential.name, Buffer.byteLength(body));
    const late = setTimeout(() => breakOff(response), settings.slowReaderMs);
    response.once('close', () => {
      clearTimeout(late);
      release();
    });
  }

  private refuseUnread(context: RequestContext, route: string): Promise<void> {
    const { metrics, http } = this.parts;
    metrics.countRejection('memory');
    return this.send(context, route, dressAnswer(NOT_HELD, context.request, http));
  }

  /** Resolves when the stream has ended. */
  async stream(
    context: RequestContext,
    route: string,
    response: StreamedResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { admission, settings, http } = this.parts;
    const { slowReaderMs } = settings;
    const hold = (bytes: number) => admission.answers.hold(context.credential.name, bytes);
    this.record(context, route, response);
    try {
      await sendStream(context.response, response, { signal, slowReaderMs, hold });
    } catch (reason) {
      http.report?.(reason);
    }
  }

  private record(
    { request, startedMs }: RequestContext,
    route: string,
    response: NotedResponse,
  ): void {
    const { logger, metrics } = this.parts;
    const { status } = response;
    const ms = performance.now() - startedMs;
    metrics.countResponse(route, status, ms / 1000);
    const note = logger.isLevelEnabled('warn') ? noteOf(request, response) : undefined;
    const isOdd = SUSPICIOUS.has(status) || note !== undefined;
    const level = status >= 500 ? 'error' : isOdd ? 'warn' : 'debug';
    if (!logger.isLevelEnabled(level)) return;
    const { method, address } = request;
    logger[level](
      {
        route,
        method,
        address,
        status,
        ms: Math.round(ms * 10) / 10,
        ...(note !== undefined && { note }),
      },
      'answered',
    );
  }
}
