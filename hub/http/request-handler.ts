/** From a request on the wire to its answer on the wire: who may ask, what is read, who answers, what is noted. */
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../../src/errors.ts';
import { answerPreflight } from '../../src/http/cors.ts';
import { dressAnswer, handleRequest } from '../../src/http/handle.ts';
import { answerText, type HttpHost, type HttpResponse } from '../../src/http/message.ts';
import type { Logger } from '../monitoring/logger.ts';
import type { AnyRequest, AnyResponse } from './acceptor.ts';
import { Admission } from '../admission/admission.ts';
import { corsPolicy } from '../admission/allowed-callers.ts';
import { Doorkeeper } from './request-guard.ts';
import { exchangeOf, type Exchange } from './request-context.ts';
import { HubMetrics } from '../monitoring/metrics.ts';
import { Lines } from './websockets.ts';
import type { HubRequest, HubRoute } from './route.ts';
import { BodyMemory, Gone, readBody } from './read-body.ts';
import { refusalAnswer } from './refusal-answer.ts';
import { sendStream, sendText } from './send-answer.ts';
import type { HubServerOptions, ServerSettings } from './server-options.ts';

type StreamedAnswer = HttpResponse & { readonly body: Exclude<HttpResponse['body'], string> };

/** What is still being sent is listened to for so long after its answer, lest the answer is lost with the connection. */
const LINGER_MS = 1000;

export class HubSurface {
  private readonly settings: ServerSettings;
  private readonly logger: Logger;
  private readonly http: HttpHost;
  private readonly admission: Admission;
  private readonly memory: BodyMemory;
  private readonly lines: Lines;
  private readonly metrics: HubMetrics;
  private readonly door: Doorkeeper;
  private readonly underWay = new Set<Promise<void>>();
  private readonly draining = new AbortController();

  constructor({ hub, settings, logger }: HubServerOptions, sockets: () => number) {
    this.settings = settings;
    this.logger = logger;
    this.http = { ...hub.http, cors: corsPolicy(settings.corsOrigins) };
    this.admission = new Admission(settings.limits);
    this.memory = new BodyMemory(settings.limits.bodyBytesInMemory);
    const { admission, draining } = this;
    this.lines = new Lines({ admission, limits: settings.limits, draining: draining.signal });
    this.metrics = new HubMetrics({
      sockets,
      requests: () => this.admission.counts.requests,
      streams: () => this.admission.counts.streams,
      passwordsWaiting: hub.passwordsWaiting,
      roundTrips: hub.roundTrips,
      bodyBytes: () => this.memory.used,
      logRecords: () => hub.http.log?.counts ?? { recorded: 0, lost: 0 },
    });
    const { http, metrics } = this;
    this.door = new Doorkeeper(settings, { http, admission, metrics, draining: draining.signal });
  }

  noteCrowded(): void {
    this.metrics.noteTurnedAway('sockets');
  }

  /** From here on requests are refused and streams end. */
  drain(): void {
    this.draining.abort();
  }

  /** Resolves when nothing is under way any more, or when the time is up. */
  async ended(ms: number): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const timeUp = new Promise<void>((resolve) => {
      late = setTimeout(resolve, ms);
    });
    const allEnded = async (): Promise<void> => {
      while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
    };
    await Promise.race([allEnded(), timeUp]);
    clearTimeout(late);
  }

  /** Whether the process is there and takes requests: nothing else is looked at. */
  async serveHealth(raw: AnyRequest, response: AnyResponse): Promise<void> {
    const exchange = exchangeOf(raw, response, 'health', this.settings);
    const isDraining = this.draining.signal.aborted;
    const refused = this.door.checkCaller(exchange);
    const text = `{"status":"${isDraining ? 'draining' : 'ok'}"}`;
    this.answer(exchange, refused ?? answerText(isDraining ? 503 : 200, NO_STORE, text));
  }

  async serveMetrics(raw: AnyRequest, response: AnyResponse): Promise<void> {
    const exchange = exchangeOf(raw, response, 'metrics', this.settings);
    const refused =
      this.door.checkCaller(exchange) ??
      this.door.checkAdmission(exchange) ??
      (await this.door.checkAdmin(exchange));
    if (refused) return this.answer(exchange, refused);
    const headers = { ...NO_STORE, 'content-type': this.metrics.contentType };
    this.answer(exchange, { status: 200, headers, body: await this.metrics.text() });
  }

  async serve(raw: AnyRequest, response: AnyResponse, route?: HubRoute): Promise<void> {
    const name = route ? route.prefix.replaceAll('/', '') : 'query';
    const exchange = exchangeOf(raw, response, name, this.settings);
    await this.track(this.admit(exchange, route));
  }

  /** A connection that is to become a line; whoever may not have one is answered by HTTP. */
  async serveLine(
    raw: IncomingMessage,
    socket: Socket,
    head: Buffer,
    routes: readonly HubRoute[],
  ): Promise<void> {
    const response = new ServerResponse(raw);
    response.assignSocket(socket);
    const exchange = exchangeOf(raw, response, 'line', this.settings);
    const { path, address } = exchange.request;
    const line = routes.find((route) => route.line?.path === path)?.line;
    const unknown = new Refusal('not found', `There is no line at ${path}.`);
    const refused =
      this.door.checkCaller(exchange) ??
      this.door.checkAdmission(exchange) ??
      (line ? undefined : this.refuse(exchange.request, unknown));
    if (refused || !line) {
      if (refused) this.answer(exchange, refused);
      socket.end();
      return;
    }
    response.detachSocket(socket);
    const opening = this.lines.open(raw, socket, head, address);
    const serving = opening.then((opened) => line.serve(opened).finally(() => opened.close()));
    try {
      await this.track(serving);
    } catch (reason) {
      if (!(reason instanceof Gone)) throw reason;
    }
  }

  private async track(working: Promise<void>): Promise<void> {
    this.underWay.add(working);
    try {
      await working;
    } finally {
      this.underWay.delete(working);
    }
  }

  private async admit(exchange: Exchange, route: HubRoute | undefined): Promise<void> {
    const refused = this.door.checkCaller(exchange) ?? this.door.checkAdmission(exchange, route);
    if (refused) return this.answer(exchange, refused);
    const end = this.admission.begin(exchange.credential);
    try {
      await this.readAndAnswer(exchange, route, end);
    } catch (reason) {
      if (!(reason instanceof Gone)) throw reason;
      exchange.response.destroy();
    } finally {
      end();
    }
  }

  private async readAndAnswer(
    exchange: Exchange,
    route: HubRoute | undefined,
    end: () => void,
  ): Promise<void> {
    const { raw, request } = exchange;
    const isBodyless = request.method === 'GET' || request.method === 'HEAD';
    const read = isBodyless
      ? NO_BODY
      : await readBody(raw, this.settings.limits, this.memory).catch(refusalIn);
    if (read instanceof Refusal) return this.answer(exchange, this.refuse(request, read));
    try {
      request.body = read.text;
      const answer = await this.answerTo(request, route);
      const { body } = answer;
      if (typeof body === 'string') return this.answer(exchange, answer);
      read.release();
      const isFile = answer.headers['content-length'] !== undefined;
      if (isFile) await this.send(exchange, { ...answer, body }, request.signal);
      else await this.openStream(exchange, { ...answer, body }, end);
    } finally {
      read.release();
    }
  }

  private answerTo(request: HubRequest, route: HubRoute | undefined): Promise<HttpResponse> {
    if (!route) return handleRequest(request, this.http);
    const preflight = answerPreflight(request);
    if (preflight) return Promise.resolve(dressAnswer(preflight, request, this.http));
    return route.handle(request).then(
      (answer) => dressAnswer(answer, request, this.http),
      (reason: unknown) => {
        if (reason instanceof Refusal) return this.refuse(request, reason);
        this.http.report?.(reason);
        const text = 'The request failed by a fault of the hub, not of the request.';
        return this.refuse(request, new Refusal('internal server error', text));
      },
    );
  }

  /** An event stream has no end of its own: it counts among the streams from here on, no more among the requests. */
  private async openStream(
    exchange: Exchange,
    answer: StreamedAnswer,
    endRequest: () => void,
  ): Promise<void> {
    const { request, credential } = exchange;
    const endStream = this.admission.beginStream(credential);
    if (!endStream) {
      await answer.body[Symbol.asyncIterator]().return?.();
      const { streamsPerCredential: max } = this.settings.limits;
      const text = `More than ${max} streams of one credential, or too many of all.`;
      return this.answer(exchange, this.refuse(request, new Refusal('too many requests', text)));
    }
    endRequest();
    try {
      const signal = AbortSignal.any([request.signal, this.draining.signal]);
      await this.send(exchange, answer, signal);
    } finally {
      endStream();
    }
  }

  private async send(
    exchange: Exchange,
    answer: StreamedAnswer,
    signal: AbortSignal,
  ): Promise<void> {
    const { slowReaderMs } = this.settings.limits;
    this.note(exchange, answer.status);
    try {
      await sendStream(exchange.response, answer, { signal, slowReaderMs });
    } catch (reason) {
      this.http.report?.(reason);
    }
  }

  private refuse(request: HubRequest, refusal: Refusal): HttpResponse {
    return refusalAnswer(request, refusal, this.http);
  }

  private answer(exchange: Exchange, answer: HttpResponse): void {
    const { raw, response, request } = exchange;
    const body = request.method === 'HEAD' || typeof answer.body !== 'string' ? '' : answer.body;
    const retry = needsRetryAfter(answer) ? { 'retry-after': '1' } : {};
    const close = this.draining.signal.aborted ? { connection: 'close' } : {};
    sendText(response, { ...answer, body }, { ...retry, ...close });
    this.note(exchange, answer.status);
    if (raw.complete) return;
    raw.resume();
    setTimeout(() => {
      if (!raw.complete) raw.destroy();
    }, LINGER_MS).unref();
  }

  private note({ request, route, arrivedMs }: Exchange, status: number): void {
    const ms = performance.now() - arrivedMs;
    this.metrics.noteAnswer(route, status, ms / 1000);
    const level = status >= 500 ? 'error' : SUSPICIOUS.has(status) ? 'warn' : 'debug';
    if (!this.logger.isLevelEnabled(level)) return;
    const { method, address } = request;
    this.logger[level](
      { route, method, address, status, ms: Math.round(ms * 10) / 10 },
      'answered',
    );
  }
}

const NO_STORE = { 'cache-control': 'no-store' } as const;
const NO_BODY = { text: undefined, release: () => undefined };
const SUSPICIOUS: ReadonlySet<number> = new Set([403, 408, 413, 414, 429, 431]);

/** Wherever a 429 was made, whoever gets it is told when to come again. */
const needsRetryAfter = ({ status, headers }: HttpResponse): boolean =>
  (status === 429 || status === 503) && headers['retry-after'] === undefined;

function refusalIn(reason: unknown): Refusal {
  if (reason instanceof Refusal) return reason;
  throw reason;
}
