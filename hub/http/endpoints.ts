/** Endpoints: each serves the requests to some paths, from the checks of the guard over the body to the response. */
import { abortWith } from '../../hosts/abort-with.ts';
import { Refusal } from '../../src/errors.ts';
import { HUB_LIMITS } from '../../src/limits.ts';
import { answerPreflight } from '../../src/http/cors.ts';
import { dressAnswer } from '../../src/http/handle.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import {
  bytesIn,
  isLong,
  joined,
  textOf,
  valuesIn,
  type TextParts,
} from '../evaluators/text-parts.ts';
import { nextTurn } from '../event-loop/next-turn.ts';
import { ClientGone, readBody, type RequestBody } from './read-body.ts';
import { refusalResponse, type Refused } from './refusal-response.ts';
import type { RequestContext } from './request-context.ts';
import type { RequestGuard } from './request-guard.ts';
import type { Responder } from './responder.ts';
import type { HubRequest, HubRoute, RouteCaller } from './route.ts';
import type { StreamedResponse } from './send-response.ts';
import type { ServerParts } from './server-options.ts';

export type Endpoint = (context: RequestContext) => Promise<void>;

/** What the requests to an endpoint may send, and who answers them. */
interface EndpointOptions extends Pick<HubRoute, 'readsBytes' | 'takesParts' | 'bodyValues'> {
  /** The name in metrics and log. */
  readonly name: string;
  readonly respond: (request: HubRequest, caller: RouteCaller) => Promise<HttpResponse>;
}

interface EndpointParts extends ServerParts {
  readonly guard: RequestGuard;
  readonly responder: Responder;
}

export class Endpoints {
  private readonly parts: EndpointParts;

  constructor(parts: EndpointParts) {
    this.parts = parts;
  }

  of(options: EndpointOptions): Endpoint {
    return this.admitted(options.name, (context) => this.serve(context, options));
  }

  ofRoute(route: HubRoute): Endpoint {
    const name = route.prefix.replaceAll('/', '');
    const respond: EndpointOptions['respond'] = (request, caller) =>
      this.answerOf(route, request, caller);
    return this.of({ ...route, name, respond });
  }

  /** Serves the requests that the guard admits, and refuses the others. @param name the name in metrics and log */
  admitted(name: string, serve: Endpoint): Endpoint {
    const { guard, responder } = this.parts;
    return async (context) => {
      const refused = guard.checkCaller(context) ?? guard.checkAdmission(context);
      if (refused) return responder.send(context, name, refused);
      try {
        await serve(context);
      } catch (reason) {
        if (reason instanceof Refusal) return this.refuse(context, name, reason);
        if (!(reason instanceof ClientGone)) throw reason;
        context.response.destroy();
      }
    };
  }

  private async serve(context: RequestContext, options: EndpointOptions): Promise<void> {
    const valuesMax = options.bodyValues?.(context.request.path) ?? Infinity;
    const read = await this.readBodyOf(context, valuesMax);
    try {
      await this.respondTo(context, options, read, valuesMax);
    } finally {
      read.release();
    }
  }

  private readBodyOf(
    context: RequestContext,
    valuesMax: number,
  ): Promise<RequestBody> | RequestBody {
    const { raw, request } = context;
    const { settings } = this.parts;
    const { requestBytes } = settings;
    if (request.method === 'GET' || request.method === 'HEAD') return NO_BODY;
    return readBody(raw, {
      limits: settings,
      bytesMax:
        valuesMax < Infinity ? Math.min(requestBytes, HUB_LIMITS.parsedBodyBytes) : requestBytes,
      memory: this.parts.bodies.shareOf(request.address),
      address: request.address,
      admitLarge: () => this.parts.guard.requireCredential(context),
    });
  }

  private async respondTo(
    context: RequestContext,
    { name, respond, readsBytes, takesParts }: EndpointOptions,
    read: RequestBody,
    valuesMax: number,
  ): Promise<void> {
    const { request, credential } = context;
    const end = await this.parts.admission.beginRequest(credential);
    if (typeof end !== 'function') return this.refuse(context, name, end);
    try {
      // The request may have waited for others of its credential, and its client may have disconnected.
      if (request.isGone) throw new ClientGone('The client disconnected while its request waited.');
      const { parts } = read;
      checkValues(parts, valuesMax);
      if (isLong(parts) && takesParts?.(request.path)) request.bodyParts = parts;
      else {
        // Only one long body is decoded per turn of the event loop, and parsed in another, because each step is synchronous.
        const isParsedHere = isLong(parts) && valuesMax < Infinity;
        if (isParsedHere) {
          this.parts.admission.chargeParsed(request.address, credential, bytesIn(parts));
          await nextTurn();
        }
        if (readsBytes) request.bytes = joined(parts);
        else request.body = textOf(parts);
        if (isParsedHere) await nextTurn();
      }
      const response = await respond(request, this.callerOf(context));
      const { body } = response;
      read.release();
      if (typeof body === 'string') {
        end();
        return await this.parts.responder.send(context, name, response);
      }
      const streamed = { ...response, body };
      const isFile = response.headers['content-length'] !== undefined;
      if (isFile) await this.parts.responder.stream(context, name, streamed, request.signal);
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
    const end = this.parts.admission.beginStream(credential);
    if (typeof end !== 'function') {
      await response.body[Symbol.asyncIterator]().return?.();
      return this.refuse(context, name, end);
    }
    endRequest();
    // `AbortSignal.any` is not used: in Node 20, the signal that lives as long as the hub would keep a reference to each combined
    // signal.
    const ended = abortWith(request.signal, this.parts.draining);
    try {
      await this.parts.responder.stream(context, name, response, ended.signal);
    } finally {
      ended.abort();
      end();
    }
  }

  private callerOf({ request, credential }: RequestContext): RouteCaller {
    const { admission, metrics } = this.parts;
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
    const { http } = this.parts;
    const preflight = answerPreflight(request);
    if (preflight) return dressAnswer(preflight, request, http);
    try {
      return dressAnswer(await route.handle(request, caller), request, http);
    } catch (reason) {
      if (reason instanceof Refusal) return refusalResponse(request, reason, http);
      http.report?.(reason);
      const message = 'The request failed because of an error in the hub, not in the request.';
      return refusalResponse(request, { code: 'internal server error', message }, http);
    }
  }

  private refuse(context: RequestContext, name: string, refused: Refused): Promise<void> {
    const { http, responder } = this.parts;
    return responder.send(context, name, refusalResponse(context.request, refused, http));
  }
}

/** Refuses a body with too many values, because parsing it would take long. @throws Refusal */
function checkValues(parts: TextParts, valuesMax: number): void {
  if (valuesMax < Infinity && valuesIn(parts) > valuesMax)
    throw new Refusal('request too large', `The body has more than ${valuesMax} values.`);
}

const NO_BODY = { parts: [], release: () => undefined };
