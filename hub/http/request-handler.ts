/** Processes a request from its arrival to its response: guard, body, route, response. */
import { setMaxListeners } from 'node:events';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { abortWith } from '../../hosts/abort-with.ts';
import { Refusal } from '../../src/errors.ts';
import { HUB_LIMITS } from '../../src/limits.ts';
import { retryHeader } from '../../src/http/answer-headers.ts';
import { answerPreflight } from '../../src/http/cors.ts';
import { dressAnswer, handleRequest } from '../../src/http/handle.ts';
import { secretOf } from '../../src/http/authorization.ts';
import { isExecutedPath, isQueryPath } from '../../src/http/routes.ts';
import { answerText, type HttpHost, type HttpResponse } from '../../src/http/message.ts';
import { Admission } from '../admission/admission.ts';
import { corsPolicy } from '../admission/allowed-callers.ts';
import { HubMetrics, type Gauges } from '../monitoring/metrics.ts';
import type { NotedResponse } from '../monitoring/response-note.ts';
import { isLong, joined, textOf, valuesIn, type TextParts } from '../evaluators/text-parts.ts';
import { nextTurn } from '../event-loop/next-turn.ts';
import { LoopTurns, type TurnLimits } from '../event-loop/loop-turns.ts';
import type { AnyRequest, AnyResponse } from '../connections/any-request.ts';
import { InFlight } from '../event-loop/in-flight.ts';
import { BodyMemory } from './body-memory.ts';
import { ClientGone, readBody, type RequestBody } from './read-body.ts';
import { refusalResponse, type Refused } from './refusal-response.ts';
import {
  addressOf,
  contextOf,
  isClosed,
  type Arrival,
  type RequestContext,
} from './request-context.ts';
import { RequestGuard } from './request-guard.ts';
import { Responder } from './responder.ts';
import type { HubRequest, HubRoute, RouteCaller } from './route.ts';
import type { StreamedResponse } from './send-response.ts';
import type { HubServerOptions } from './server-options.ts';
import { WebSockets } from './websockets.ts';

/** Serves the requests to a path. */
type Endpoint = (context: RequestContext) => Promise<void>;

interface Mounted {
  readonly takes: (path: string) => boolean;
  readonly serve: Endpoint;
}

/** An endpoint whose requests may have a body. */
interface Place extends Pick<HubRoute, 'readsBytes' | 'takesParts' | 'bodyValues'> {
  /** The name in metrics and log. */
  readonly name: string;
  readonly respond: (request: HubRequest, caller: RouteCaller) => Promise<HttpResponse>;
}

const HELD_BACK_SHOWN = 10;

export class RequestHandler {
  private readonly options: HubServerOptions;
  private readonly http: HttpHost;
  private readonly admission: Admission;
  private readonly bodies: BodyMemory;
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
    this.options = options;
    this.http = { ...hub.http, cors: corsPolicy(settings.corsOrigins) };
    this.admission = new Admission(settings, (limit) => this.metrics.countRejection(limit));
    this.bodies = new BodyMemory(settings.bodyBytesInMemory, settings.bodyBytesPerAddress);
    const { admission, bodies, http } = this;
    this.webSockets = new WebSockets({ admission, settings, draining });
    this.metrics = new HubMetrics({
      ...gaugesOf(options, admission),
      sockets: socketCount,
      bodyBytes: () => bodies.used,
    });
    const { metrics } = this;
    this.guard = new RequestGuard(settings, { http, admission, metrics });
    this.responder = new Responder({
      logger,
      metrics,
      answers: admission.answers,
      slowReaderMs: settings.slowReaderMs,
      draining,
      http,
    });
    this.fixed = new Map([
      ['/health', (context) => this.serveHealth(context)],
      ['/metrics', this.admitted('metrics', (context) => this.serveMetrics(context))],
    ]);
    this.mounted = options.routes.map((route) => this.mount(route));
    this.queries = this.endpoint({
      name: 'query',
      takesParts: hub.longPushes && isExecutedPath,
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

  /**
   * Handles a request. Requests that arrive together are begun over several turns of the event loop, because one connection can
   * bring hundreds in one chunk.
   */
  handle(raw: AnyRequest, response: AnyResponse): Promise<void> {
    const arrival = this.arrivalOf(raw);
    const begin = (): Promise<void> => this.begin(raw, response, arrival);
    const isGone = (): boolean => raw.destroyed || isClosed(response);
    const free = this.turnFor(raw, arrival, isGone);
    if (!free) return begin();
    // A client may reset requests that wait; these are not begun, so they cost nothing more.
    const beginUnlessGone = (): Promise<void> | undefined =>
      isGone() ? void response.destroy() : begin();
    return this.inFlight.track(free.then(beginUnlessGone));
  }

  private turnFor(
    raw: AnyRequest,
    { address }: Arrival,
    isGone: () => boolean,
  ): Promise<void> | undefined {
    const secret = secretOf(raw.headers['authorization']);
    const { name, group } = this.options.hub.lineOf(secret, address);
    return this.turns.enter(name, group, isGone);
  }

  private arrivalOf(raw: AnyRequest): Arrival {
    const { trustedProxies } = this.options.settings;
    return { address: addressOf(raw, trustedProxies), isLate: this.stopping.signal.aborted };
  }

  private async begin(raw: AnyRequest, response: AnyResponse, arrival: Arrival): Promise<void> {
    const context = contextOf(raw, response, this.options, arrival);
    await this.endpointOf(context.request)(context);
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
    const refused =
      this.guard.checkCaller(context) ??
      this.guard.checkAdmission(context) ??
      (route
        ? undefined
        : this.refusal(context, {
            code: 'not found',
            message: `There is no WebSocket at ${path}.`,
          }));
    if (refused || !route) {
      if (refused) await this.responder.send(context, 'line', refused);
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

  /** Serves requests that the guard admits, and sends the responses to refusals. @param name the name in metrics and log */
  private admitted(name: string, serve: Endpoint): Endpoint {
    return (context) => this.inFlight.track(this.serveAdmitted(context, name, serve));
  }

  private async serveAdmitted(
    context: RequestContext,
    name: string,
    serve: Endpoint,
  ): Promise<void> {
    const refused = this.guard.checkCaller(context) ?? this.guard.checkAdmission(context);
    if (refused) return this.responder.send(context, name, refused);
    try {
      await serve(context);
    } catch (reason) {
      if (reason instanceof Refusal)
        return this.responder.send(context, name, this.refusal(context, reason));
      if (!(reason instanceof ClientGone)) throw reason;
      context.response.destroy();
    }
  }

  private mount(route: HubRoute): Mounted {
    return {
      takes: (path) => path.startsWith(route.prefix) && route.takes?.(path) !== false,
      serve: this.endpoint({
        name: route.prefix.replaceAll('/', ''),
        readsBytes: route.readsBytes,
        takesParts: route.takesParts,
        bodyValues: route.bodyValues,
        respond: (request, caller) => this.answerOf(route, request, caller),
      }),
    };
  }

  private endpoint(place: Place): Endpoint {
    return this.admitted(place.name, (context) => this.serveRequest(context, place));
  }

  private async serveRequest(context: RequestContext, place: Place) {
    const valuesMax = place.bodyValues?.(context.request.path) ?? Infinity;
    const read = await this.readBodyOf(context, valuesMax);
    try {
      await this.respondTo(context, place, read, valuesMax);
    } finally {
      read.release();
    }
  }

  private readBodyOf(
    context: RequestContext,
    valuesMax: number,
  ): Promise<RequestBody> | RequestBody {
    const { raw, request } = context;
    const { settings } = this.options;
    const { requestBytes } = settings;
    if (request.method === 'GET' || request.method === 'HEAD') return NO_BODY;
    return readBody(raw, {
      limits: settings,
      bytesMax:
        valuesMax < Infinity ? Math.min(requestBytes, HUB_LIMITS.parsedBodyBytes) : requestBytes,
      memory: this.bodies.shareOf(request.address),
      address: request.address,
      admitLarge: () => this.guard.requireCredential(context),
    });
  }

  private async respondTo(
    context: RequestContext,
    { name, respond, readsBytes, takesParts }: Place,
    read: RequestBody,
    valuesMax: number,
  ): Promise<void> {
    const { request, credential } = context;
    const end = await this.admission.beginRequest(credential);
    if (typeof end !== 'function')
      return this.responder.send(context, name, this.refusal(context, end));
    try {
      // The request may have waited for others of its credential, and its client may have disconnected.
      if (request.isGone) throw new ClientGone('The client disconnected while its request waited.');
      const { parts } = read;
      checkValues(parts, valuesMax);
      if (isLong(parts) && takesParts?.(request.path)) request.bodyParts = parts;
      else {
        // Only one long body is decoded per turn of the event loop, and parsed in another, because each step is synchronous.
        const isParsedHere = isLong(parts) && valuesMax < Infinity;
        if (isParsedHere) await nextTurn();
        if (readsBytes) request.bytes = joined(parts);
        else request.body = textOf(parts);
        if (isParsedHere) await nextTurn();
      }
      const response = await respond(request, this.callerOf(context));
      const { body } = response;
      read.release();
      if (typeof body === 'string') {
        end();
        return await this.responder.send(context, name, response);
      }
      const streamed = { ...response, body };
      const isFile = response.headers['content-length'] !== undefined;
      if (isFile) await this.responder.stream(context, name, streamed, request.signal);
      else await this.serveStream(context, name, streamed, end);
    } finally {
      end();
    }
  }

  /** Sends an event stream. It has no natural end, so from here on it counts as a stream instead of a request. */
  private async serveStream(
    context: RequestContext,
    name: string,
    response: StreamedResponse,
    endRequest: () => void,
  ): Promise<void> {
    const { request, credential } = context;
    const end = this.admission.beginStream(credential);
    if (typeof end !== 'function') {
      await response.body[Symbol.asyncIterator]().return?.();
      return this.responder.send(context, name, this.refusal(context, end));
    }
    endRequest();
    // `AbortSignal.any` is not used: in Node 20, the signal that lives as long as the hub would keep a reference to each combined
    // signal.
    const ended = abortWith(request.signal, this.stopping.signal);
    try {
      await this.responder.stream(context, name, response, ended.signal);
    } finally {
      ended.abort();
      end();
    }
  }

  private callerOf({ request, credential }: RequestContext): RouteCaller {
    const { admission, metrics } = this;
    return {
      name: credential.name,
      async admit() {
        const refused = admission.refusalOf(request.address, credential);
        if (refused) metrics.countRejection('live');
        return refused ?? admission.beginRequest(credential);
      },
      hold: (bytes) => admission.answers.hold(credential.name, bytes),
    };
  }

  /** Calls the route, adds CORS headers, and turns errors into refusals, as `handleRequest` does for queries. */
  private async answerOf(
    route: HubRoute,
    request: HubRequest,
    caller: RouteCaller,
  ): Promise<HttpResponse> {
    const preflight = answerPreflight(request);
    if (preflight) return dressAnswer(preflight, request, this.http);
    try {
      return dressAnswer(await route.handle(request, caller), request, this.http);
    } catch (reason) {
      if (reason instanceof Refusal) return refusalResponse(request, reason, this.http);
      this.http.report?.(reason);
      const message = 'The request failed because of an error in the hub, not in the request.';
      return refusalResponse(request, { code: 'internal server error', message }, this.http);
    }
  }

  private refusal({ request }: RequestContext, refused: Refused): NotedResponse {
    return refusalResponse(request, refused, this.http);
  }
}

const gaugesOf = (
  { hub, routes }: HubServerOptions,
  admission: Admission,
): Omit<Gauges, 'sockets' | 'bodyBytes'> => ({
  requests: () => admission.counts.requests,
  streams: () => admission.counts.streams,
  passwordsWaiting: hub.passwordsWaiting,
  longQueries: hub.longQueries,
  roundTrips: hub.roundTrips,
  lastCommit: hub.lastCommit,
  answerBytes: () => admission.answers.used,
  heldBack: () => [...admission.heldBack.most(HELD_BACK_SHOWN), ...hub.waitedMost(HELD_BACK_SHOWN)],
  liveQueries: () => routes.reduce((sum, route) => sum + (route.liveQueries?.() ?? 0), 0),
  logRecords: () => hub.http.log?.counts ?? { recorded: 0, lost: 0 },
});

/** Refuses a body with too many values, because parsing it would take long. @throws Refusal */
function checkValues(parts: TextParts, valuesMax: number): void {
  if (valuesMax < Infinity && valuesIn(parts) > valuesMax)
    throw new Refusal('request too large', `The body has more than ${valuesMax} values.`);
}

/** The number is limited as well as the time, because the time does not cover the later asynchronous steps of each request. */
const BEGUN: TurnLimits = {
  alone: { ms: 10, count: 16 },
  besideOthers: { ms: 10, count: 6 },
};
const NO_STORE = { 'cache-control': 'no-store' } as const;
const NO_BODY = { parts: [], release: () => undefined };
