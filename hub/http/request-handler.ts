/** Passes each request, when it has its turn, to the endpoint of its path. Opens WebSockets. */
import { setMaxListeners } from 'node:events';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { HUB_LIMITS } from '../../src/limits.ts';
import { retryHeader } from '../../src/http/answer-headers.ts';
import { handleRequest } from '../../src/http/handle.ts';
import { secretOf } from '../../src/http/authorization.ts';
import { isExecutedPath, isQueryPath } from '../../src/http/routes.ts';
import { answerText, type HttpHost } from '../../src/http/message.ts';
import { Admission } from '../admission/admission.ts';
import { corsPolicy } from '../admission/allowed-callers.ts';
import { HubMetrics, type Gauges } from '../monitoring/metrics.ts';
import { LoopTurns, type TurnLimits } from '../event-loop/loop-turns.ts';
import type { AnyRequest, AnyResponse } from '../connections/any-request.ts';
import { InFlight } from '../event-loop/in-flight.ts';
import { BodyMemory } from './body-memory.ts';
import { Endpoints, type Endpoint } from './endpoints.ts';
import { ClientGone } from './read-body.ts';
import { refusalResponse } from './refusal-response.ts';
import {
  addressOf,
  contextOf,
  isClosed,
  type Arrival,
  type RequestContext,
} from './request-context.ts';
import { RequestGuard } from './request-guard.ts';
import { Responder } from './responder.ts';
import type { HubRequest } from './route.ts';
import type { HubServerOptions } from './server-options.ts';
import { WebSockets } from './websockets.ts';

interface Mounted {
  readonly takes: (path: string) => boolean;
  readonly serve: Endpoint;
}

const HELD_BACK_SHOWN = 10;

export class RequestHandler {
  private readonly options: HubServerOptions;
  private readonly http: HttpHost;
  private readonly webSockets: WebSockets;
  private readonly metrics: HubMetrics;
  private readonly guard: RequestGuard;
  private readonly responder: Responder;
  private readonly inFlight = new InFlight();
  private readonly turns = new LoopTurns(BEGUN);
  private readonly stopping = new AbortController();
  private readonly fixed: ReadonlyMap<string, Endpoint>;
  private readonly mounted: readonly Mounted[];
  private readonly queries: Endpoint;

  /** @param socketCount returns the number of open connections */
  constructor(options: HubServerOptions, socketCount: () => number) {
    const { hub, settings, logger } = options;
    const draining = this.stopping.signal;
    // Each WebSocket adds a listener, so the warning about many listeners is disabled.
    setMaxListeners(0, draining);
    const http = { ...hub.http, cors: corsPolicy(settings.corsOrigins) };
    const admission = new Admission(settings, (limit) => metrics.countRejection(limit));
    const bodies = new BodyMemory(settings.bodyBytesInMemory, settings.bodyBytesPerAddress);
    const metrics = new HubMetrics(gaugesOf(options, { admission, bodies, socketCount }));
    const shared = { settings, logger, http, admission, bodies, metrics, draining };
    const guard = new RequestGuard(shared);
    const responder = new Responder(shared);
    const endpoints = new Endpoints({ ...shared, guard, responder });
    this.options = options;
    this.http = http;
    this.metrics = metrics;
    this.guard = guard;
    this.responder = responder;
    this.webSockets = new WebSockets(shared);
    this.fixed = new Map([
      ['/health', (context) => this.serveHealth(context)],
      ['/metrics', endpoints.admitted('metrics', (context) => this.serveMetrics(context))],
    ]);
    this.mounted = options.routes.map((route) => ({
      takes: (path) => path.startsWith(route.prefix) && route.takes?.(path) !== false,
      serve: endpoints.ofRoute(route),
    }));
    this.queries = endpoints.of({
      name: 'query',
      takesParts: hub.evaluators && isExecutedPath,
      bodyValues: (path) => (isQueryPath(path) ? Infinity : HUB_LIMITS.otherBodyValues),
      respond: (request) => handleRequest(request, http),
    });
  }

  countRefusedConnection(): void {
    this.metrics.countRejection('sockets');
  }

  /** From now on, requests are refused and streams end. */
  drain(): void {
    this.stopping.abort();
  }

  /** Resolves when no request is in progress, at the latest after `ms`. */
  ended(ms: number): Promise<void> {
    return this.inFlight.ended(ms);
  }

  handle(raw: AnyRequest, response: AnyResponse): Promise<void> {
    return this.inFlight.track(this.serve(raw, response));
  }

  /**
   * Requests that arrive together are begun over several turns of the event loop, because one connection can bring hundreds in
   * one chunk.
   */
  private async serve(raw: AnyRequest, response: AnyResponse): Promise<void> {
    const arrival = this.arrivalOf(raw);
    const isGone = (): boolean => raw.destroyed || isClosed(response);
    const free = this.turnFor(raw, arrival, isGone);
    if (free) {
      await free;
      // A client may reset requests that wait; these are not begun, so they cost nothing more.
      if (isGone()) return void response.destroy();
    }
    const context = contextOf(raw, response, this.options, arrival);
    await this.endpointOf(context.request)(context);
  }

  private turnFor(
    raw: AnyRequest,
    { address }: Arrival,
    isGone: () => boolean,
  ): Promise<void> | undefined {
    const secret = secretOf(raw.headers['authorization']);
    const line = this.options.hub.evaluators?.lineOf({ secret, address });
    return this.turns.enter(line?.name ?? address, line?.group, isGone);
  }

  private arrivalOf(raw: AnyRequest): Arrival {
    const { trustedProxies } = this.options.settings;
    return { address: addressOf(raw, trustedProxies), isLate: this.stopping.signal.aborted };
  }

  /** Opens a WebSocket, or sends the HTTP response that refuses it. */
  async handleUpgrade(raw: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    // After an upgrade, Node no longer handles errors of the socket: without a listener, a reset of the connection would end the
    // process.
    socket.on('error', () => undefined);
    const arrival = this.arrivalOf(raw);
    await this.turnFor(raw, arrival, () => socket.destroyed);
    if (socket.destroyed) return;
    const response = new ServerResponse(raw);
    response.assignSocket(socket);
    const context = contextOf(raw, response, this.options, arrival);
    const { path, address } = context.request;
    const route = this.options.routes.find(({ webSocket }) => webSocket?.path === path)?.webSocket;
    const refused = this.guard.checkCaller(context) ?? this.guard.checkAdmission(context);
    if (refused || !route) {
      const unknown = { code: 'not found', message: `There is no WebSocket at ${path}.` } as const;
      const response = refused ?? refusalResponse(context.request, unknown, this.http);
      await this.responder.send(context, 'line', response);
      // Closed here, because no server manages this socket any more: it would stay open if its client does not close it.
      socket.destroySoon();
      return;
    }
    response.detachSocket(socket);
    const opening = this.webSockets.open(raw, socket, head, address);
    const serving = opening.then((session) => route.serve(session).finally(() => session.close()));
    try {
      await this.inFlight.track(serving);
    } catch (reason) {
      if (!(reason instanceof ClientGone)) throw reason;
    }
  }

  private endpointOf({ method, path }: HubRequest): Endpoint {
    const [plain = ''] = path.replace(/^\/{2,}/, '/').split('?', 1);
    const fixed = method === 'GET' || method === 'HEAD' ? this.fixed.get(plain) : undefined;
    return fixed ?? this.mounted.find(({ takes }) => takes(plain))?.serve ?? this.queries;
  }

  /** Reports only whether the process accepts requests; it does not check the database. */
  private async serveHealth(context: RequestContext): Promise<void> {
    const isDraining = this.stopping.signal.aborted;
    const text = `{"status":"${isDraining ? 'draining' : 'ok'}"}`;
    const refused = this.guard.checkCaller(context);
    const status = isDraining ? 503 : 200;
    const response =
      refused ?? answerText(status, { ...NO_STORE, ...retryHeader({ status }) }, text);
    await this.responder.send(context, 'health', response);
  }

  private async serveMetrics(context: RequestContext): Promise<void> {
    await this.guard.requireAdmin(context);
    const headers = { ...NO_STORE, 'content-type': this.metrics.contentType };
    const body = await this.metrics.text();
    await this.responder.send(context, 'metrics', { status: 200, headers, body });
  }
}

const NO_LONG_QUERIES = { running: 0, waiting: 0, threadsStarted: 0, threadsLost: 0 };

const gaugesOf = (
  { hub, routes }: HubServerOptions,
  {
    admission,
    bodies,
    socketCount,
  }: {
    readonly admission: Admission;
    readonly bodies: BodyMemory;
    readonly socketCount: () => number;
  },
): Gauges => ({
  sockets: socketCount,
  requests: () => admission.counts.requests,
  streams: () => admission.counts.streams,
  passwordsWaiting: hub.passwordsWaiting,
  longQueries: () => hub.evaluators?.counts ?? NO_LONG_QUERIES,
  roundTrips: hub.roundTrips,
  lastCommit: hub.lastCommit,
  bodyBytes: () => bodies.used,
  answerBytes: () => admission.answers.used,
  heldBack: () => [
    ...admission.heldBack.most(HELD_BACK_SHOWN),
    ...(hub.evaluators?.waitedMost(HELD_BACK_SHOWN) ?? []),
  ],
  liveQueries: () => routes.reduce((sum, route) => sum + (route.liveQueries?.() ?? 0), 0),
  logRecords: () => hub.http.log?.counts ?? { recorded: 0, lost: 0 },
});

/** The number is limited as well as the time, because the time does not cover the later asynchronous steps of each request. */
const BEGUN: TurnLimits = {
  alone: { ms: 10, count: 16 },
  besideOthers: { ms: 10, count: 6 },
};
const NO_STORE = { 'cache-control': 'no-store' } as const;
