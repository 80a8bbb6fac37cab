/** Checks of a request before its body is read. `check…` returns the response that refuses the request; `require…` throws. */
import { Refusal } from '../../src/errors.ts';
import { secretOf } from '../../src/http/authorization.ts';
import { isForeign } from '../../src/http/cors.ts';
import type { HttpRequest } from '../../src/http/message.ts';
import { hostCheck } from '../admission/allowed-callers.ts';
import type { NotedResponse } from '../monitoring/response-note.ts';
import { refusalResponse } from './refusal-response.ts';
import type { RequestContext } from './request-context.ts';
import type { ServerParts } from './server-options.ts';

export class RequestGuard {
  private readonly parts: ServerParts;
  private readonly isKnownHost: (authority: string | undefined) => boolean;

  constructor(parts: ServerParts) {
    const { host, allowedHosts } = parts.settings;
    this.parts = parts;
    this.isKnownHost = hostCheck(host, allowedHosts);
  }

  /** Checks that do not depend on the route. */
  checkCaller({ raw, request, isLate }: RequestContext): NotedResponse | undefined {
    const { http, metrics, settings } = this.parts;
    const { requestLineBytes, headerBytes } = settings;
    const refuse = (
      code: 'time out' | 'bad request' | 'forbidden',
      message: string,
      status?: number,
    ) => refusalResponse(request, { code, message }, http, status);
    if (isLate) return refuse('time out', 'The hub is shutting down.');
    if (request.path.length > requestLineBytes)
      return refuse('bad request', `The URL is longer than ${requestLineBytes} bytes.`, 414);
    if (bytesOf(raw.rawHeaders) > headerBytes)
      return refuse('bad request', `The headers are longer than ${headerBytes} bytes.`, 431);
    // Node responds to `100-continue` itself, also in a list.
    if (!/^$|100-continue/i.test(request.headers['expect'] ?? ''))
      return refuse('bad request', 'Only 100-continue can be expected.', 417);
    if (hostsOf(raw.rawHeaders) > 1)
      return refuse('bad request', 'The request has more than one Host header.');
    const host = request.headers[':authority'] ?? request.headers['host'];
    if (!this.isKnownHost(host))
      return {
        ...refuse('forbidden', 'Host header not allowed: add it with --allow-host.'),
        note: `The Host header ${host?.slice(0, NAME_CHARS)} is not allowed: --allow-host`,
      };
    if (isForeign(request, http.cors)) {
      metrics.countRejection('origin');
      const origin = (request.headers['origin'] ?? '').slice(0, NAME_CHARS);
      return {
        ...refuse('forbidden', 'Pages of this origin may not use this hub.'),
        note: `The origin ${origin} is not allowed: --cors ${origin}`,
      };
    }
    return undefined;
  }

  /** Checks rates and counts. */
  checkAdmission({ request, credential }: RequestContext): NotedResponse | undefined {
    // A CORS preflight carries no secret and executes nothing.
    if (request.method === 'OPTIONS' && request.headers['origin'] !== undefined) return undefined;
    const { http, admission } = this.parts;
    const refused = admission.refusalOf(request.address, credential);
    return refused && refusalResponse(request, refused, http);
  }

  /** Called before a large body is read: callers without a valid credential may not send one. @throws Refusal */
  async requireCredential({ request }: RequestContext): Promise<void> {
    if (!(await this.authenticate(request))) throw unauthorized();
  }

  /** Called before the metrics are sent. @throws Refusal */
  async requireAdmin({ request }: RequestContext): Promise<void> {
    if (this.parts.settings.metrics === 'open') return;
    const found = await this.authenticate(request);
    if (found?.role !== 'admin' || found.database.length > 0) throw unauthorized();
  }

  private async authenticate({ headers }: HttpRequest) {
    const secret = secretOf(headers['authorization']);
    return secret === undefined ? undefined : this.parts.http.engine.authenticate(secret);
  }
}

const unauthorized = (): Refusal => new Refusal('unauthorized', 'Unauthorized');

/** An origin or host is logged up to this length. */
const NAME_CHARS = 256;

const hostsOf = (rawHeaders: readonly string[]): number =>
  rawHeaders.filter(
    (text, at) => at % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host',
  ).length;

/** Header bytes including separators and line ends, as sent. */
const bytesOf = (rawHeaders: readonly string[]): number =>
  rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
