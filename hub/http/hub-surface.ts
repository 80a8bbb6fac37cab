/** From a request on the wire to its answer on the wire: who may ask, what is read, who answers, what is noted. */
import { ServerResponse, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal, REFUSALS } from '../../src/errors.ts';
import { NO_METRICS, metricHeaders, txnHeader } from '../../src/http/answer-headers.ts';
import { answerPreflight, isForeign } from '../../src/http/cors.ts';
import { dressAnswer, handleRequest } from '../../src/http/handle.ts';
import { answerText, errorText, type HttpHost, type HttpResponse } from '../../src/http/message.ts';
import type { Logger } from '../logger.ts';
import type { AnyRequest, AnyResponse } from './acceptor.ts';
import { Admission, credentialOf, type Credential } from './admission.ts';
import { corsPolicy, hostCheck } from './callers.ts';
import type { HubServerOptions, ServerSettings } from './server-options.ts';
import { HubMetrics } from './hub-metrics.ts';
import { Lines } from './lines.ts';
import type { HubRequest, HubRoute } from './message.ts';
import { BodyMemory, Gone, readBody } from './read-body.ts';
import { sendStream, sendText } from './send-answer.ts';
import { TokenBuckets } from './token-buckets.ts';

/** What is still being sent is listened to for so long after its answer, lest the answer is lost with the connection. */
const LINGER_MS = 1000;

/** Its body comes later. Who has gone is known when somebody asks: few do. */
class ArrivedRequest implements HubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly address: string;
  readonly base: string;
  body: string | undefined = undefined;
  private readonly response: AnyResponse;
  private gone: AbortController | undefined = undefined;

  constructor(response: AnyResponse, parts: Omit<HubRequest, 'body' | 'signal'>) {
    this.response = response;
    this.method = parts.method;
    this.path = parts.path;
    this.headers = parts.headers;
    this.address = parts.address;
    this.base = parts.base;
  }

  get signal(): AbortSignal {
    if (this.gone) return this.gone.signal;
    const gone = new AbortController();
    this.gone = gone;
    if (this.response.closed) gone.abort();
    else this.response.once('close', () => gone.abort());
    return gone.signal;
  }
}

/** A request on its way. */
interface Exchange {
  readonly raw: AnyRequest;
  readonly response: AnyResponse;
  readonly request: ArrivedRequest;
  readonly credential: Credential;
  readonly arrivedMs: number;
  readonly route: string;
}

export class HubSurface {
  private readonly settings: ServerSettings;
  private readonly logger: Logger;
  private readonly http: HttpHost;
  private readonly admission: Admission;
  private readonly memory: BodyMemory;
  private readonly lines: Lines;
  private readonly metrics: HubMetrics;
  private readonly isKnownHost: (authority: string | undefined) => boolean;
  private readonly routeRates = new Map<HubRoute, TokenBuckets>();
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
    this.isKnownHost = hostCheck(settings.host, settings.allowedHosts);
    this.metrics = new HubMetrics({
      sockets,
      requests: () => this.admission.counts.requests,
      streams: () => this.admission.counts.streams,
      passwordsWaiting: hub.passwordsWaiting,
      roundTrips: hub.roundTrips,
      bodyBytes: () => this.memory.used,
      logRecords: () => hub.http.log?.counts ?? { recorded: 0, lost: 0 },
    });
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
    const exchange = this.exchangeOf(raw, response, 'health');
    const isDraining = this.draining.signal.aborted;
    const refused = this.checkCaller(exchange);
    const text = `{"status":"${isDraining ? 'draining' : 'ok'}"}`;
    this.answer(exchange, refused ?? answerText(isDraining ? 503 : 200, NO_STORE, text));
  }

  async serveMetrics(raw: AnyRequest, response: AnyResponse): Promise<void> {
    const exchange = this.exchangeOf(raw, response, 'metrics');
    const refused =
      this.checkCaller(exchange) ??
      this.checkAdmission(exchange) ??
      (await this.checkAdmin(exchange));
    if (refused) return this.answer(exchange, refused);
    const headers = { ...NO_STORE, 'content-type': this.metrics.contentType };
    this.answer(exchange, { status: 200, headers, body: await this.metrics.text() });
  }

  async serve(raw: AnyRequest, response: AnyResponse, route?: HubRoute): Promise<void> {
    const name = route ? route.prefix.replaceAll('/', '') : 'query';
    const exchange = this.exchangeOf(raw, response, name);
    const working = this.admit(exchange, route);
    this.underWay.add(working);
    try {
      await working;
    } finally {
      this.underWay.delete(working);
    }
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
    const exchange = this.exchangeOf(raw, response, 'line');
    const { path, address } = exchange.request;
    const line = routes.find((route) => route.line?.path === path)?.line;
    const unknown = new Refusal('not found', `There is no line at ${path}.`);
    const refused =
      this.checkCaller(exchange) ??
      this.checkAdmission(exchange) ??
      (line ? undefined : this.refuse(exchange.request, unknown));
    if (refused || !line) {
      if (refused) this.answer(exchange, refused);
      socket.end();
      return;
    }
    response.detachSocket(socket);
    const working = this.lines
      .open(raw, socket, head, address)
      .then((opened) => line.serve(opened).finally(() => opened.close()));
    this.underWay.add(working);
    try {
      await working;
    } catch (reason) {
      if (!(reason instanceof Gone)) throw reason;
    } finally {
      this.underWay.delete(working);
    }
  }

  private async admit(exchange: Exchange, route: HubRoute | undefined): Promise<void> {
    const refused = this.checkCaller(exchange) ?? this.checkAdmission(exchange, route);
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
    const { raw, request, credential } = exchange;
    const isBodyless = request.method === 'GET' || request.method === 'HEAD';
    const read = isBodyless
      ? NO_BODY
      : await readBody(raw, this.settings.limits, this.memory).catch(refusalIn);
    if (read instanceof Refusal) return this.answer(exchange, this.refuse(request, read));
    try {
      request.body = read.text;
      const answer = await this.answerTo(request, route);
      if (typeof answer.body === 'string') return this.answer(exchange, answer);
      const isFile = answer.headers['content-length'] !== undefined;
      const endStream = isFile ? end : this.admission.beginStream(credential);
      if (!endStream) {
        await answer.body[Symbol.asyncIterator]().return?.();
        const { streamsPerCredential: max } = this.settings.limits;
        const text = `More than ${max} streams of one credential, or too many of all.`;
        return this.answer(exchange, this.refuse(request, new Refusal('too many requests', text)));
      }
      // A stream holds neither its body nor a place among the requests.
      read.release();
      if (!isFile) end();
      await this.stream(exchange, { ...answer, body: answer.body }, endStream, isFile);
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

  private async stream(
    exchange: Exchange,
    answer: HttpResponse & { readonly body: Exclude<HttpResponse['body'], string> },
    end: () => void,
    isFile: boolean,
  ): Promise<void> {
    const { response, request } = exchange;
    const { slowReaderMs } = this.settings.limits;
    // A file that is under way is finished; an event stream has no end of its own.
    const signal = isFile
      ? request.signal
      : AbortSignal.any([request.signal, this.draining.signal]);
    this.note(exchange, answer.status);
    try {
      await sendStream(response, answer, { signal, slowReaderMs });
    } catch (reason) {
      this.http.report?.(reason);
    } finally {
      end();
    }
  }

  private exchangeOf(raw: AnyRequest, response: AnyResponse, route: string): Exchange {
    const arrivedMs = performance.now();
    const headers = headersOf(raw.headers);
    const address = this.addressOf(raw, headers);
    const authority = headers[':authority'] ?? headers['host'] ?? '';
    const scheme = this.settings.tls ? 'https' : 'http';
    const request = new ArrivedRequest(response, {
      method: raw.method ?? 'GET',
      path: pathOf(raw.url ?? '/'),
      headers,
      address,
      base: this.settings.publicUrl ?? `${scheme}://${authority}`,
    });
    const credential = credentialOf(headers['authorization'], address);
    return { raw, response, request, credential, arrivedMs, route };
  }

  private addressOf(raw: AnyRequest, headers: HubRequest['headers']): string {
    const peer = raw.socket.remoteAddress ?? '';
    if (!this.settings.trustedProxies.includes(peer)) return peer;
    return headers['x-forwarded-for']?.split(',').at(-1)?.trim() ?? peer;
  }

  /** What is wrong with the request whatever it asks for. */
  private checkCaller({ raw, request }: Exchange): HttpResponse | undefined {
    const { limits } = this.settings;
    if (this.draining.signal.aborted)
      return this.refuse(request, new Refusal('time out', 'The hub is being stopped.'), 1);
    if (request.path.length > limits.requestLineBytes)
      return this.refuse(
        request,
        new Refusal('bad request', 'The URL is too long.'),
        undefined,
        414,
      );
    if (headerBytes(raw.rawHeaders) > limits.headerBytes)
      return this.refuse(
        request,
        new Refusal('bad request', 'The headers are too long.'),
        undefined,
        431,
      );
    if (!this.isKnownHost(request.headers[':authority'] ?? request.headers['host']))
      return this.refuse(request, new Refusal('forbidden', 'This hub is not called by that name.'));
    if (isForeign(request, this.http.cors)) {
      this.metrics.noteTurnedAway('origin');
      return this.refuse(
        request,
        new Refusal('forbidden', 'Pages of this origin may not use this hub.'),
      );
    }
    return undefined;
  }

  private checkAdmission(
    { request, credential }: Exchange,
    route?: HubRoute,
  ): HttpResponse | undefined {
    // A preflight carries no secret and does nothing.
    if (request.method === 'OPTIONS' && request.headers['origin'] !== undefined) return undefined;
    const refused =
      this.admission.refusalOf(request.address, credential) ??
      this.checkRouteRate(route, credential);
    if (!refused) return undefined;
    const { code, description, retryAfterSeconds } = refused;
    this.metrics.noteTurnedAway(code === 'too many requests' ? 'rate' : 'memory');
    return this.refuse(request, new Refusal(code, description), retryAfterSeconds);
  }

  private checkRouteRate(route: HubRoute | undefined, { name }: Credential) {
    const { burstSeconds, ratePerToken } = this.settings.limits;
    // Who turned the rates off meant all of them.
    if (route?.ratePerCredential === undefined || ratePerToken === 0) return undefined;
    let buckets = this.routeRates.get(route);
    if (!buckets) {
      buckets = new TokenBuckets(route.ratePerCredential, burstSeconds, () => performance.now());
      this.routeRates.set(route, buckets);
    }
    const wait = buckets.take(name);
    if (wait === undefined) return undefined;
    const retryAfterSeconds = Math.max(1, Math.ceil(wait));
    return {
      code: 'too many requests',
      description: 'Too many requests.',
      retryAfterSeconds,
    } as const;
  }

  private async checkAdmin({ request }: Exchange): Promise<HttpResponse | undefined> {
    if (this.settings.metrics === 'open') return undefined;
    const header = request.headers['authorization'] ?? '';
    const secret = /^Bearer\s+(\S+)$/.exec(header)?.[1];
    const found = secret === undefined ? undefined : await this.http.engine.authenticate(secret);
    if (found?.role === 'admin' && found.database.length === 0) return undefined;
    return this.refuse(request, new Refusal('unauthorized', 'Unauthorized'));
  }

  private refuse(
    request: HubRequest,
    { code, message }: Refusal,
    retryAfterSeconds = code === 'too many requests' || code === 'storage_blocked' ? 1 : undefined,
    status: number = REFUSALS[code],
  ): HttpResponse {
    const headers = {
      ...txnHeader(this.http.clock()),
      ...metricHeaders(NO_METRICS),
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
      ...(code === 'unauthorized' && { 'www-authenticate': 'Basic realm="Unauthorized"' }),
    };
    // The log API has errors of its own form.
    const text = request.path.startsWith('/api/')
      ? JSON.stringify({ message })
      : errorText(code, message);
    return dressAnswer(answerText(status, headers, text), request, this.http);
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

function headersOf(headers: IncomingHttpHeaders): Record<string, string> {
  const texts: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) texts[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return texts;
}

/** Line ends and separators count: they came over the wire. */
const headerBytes = (rawHeaders: readonly string[]): number =>
  rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);

/** A proxy sends the whole URL. */
const pathOf = (url: string): string =>
  url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
