/** Who may come in: what is refused before a body is read. Each check returns the answer of who may not. */
import { Refusal } from '../../src/errors.ts';
import { secretOf } from '../../src/http/authorization.ts';
import { isForeign } from '../../src/http/cors.ts';
import type { HttpHost, HttpResponse } from '../../src/http/message.ts';
import type { Admission } from '../admission/admission.ts';
import { hostCheck } from '../admission/allowed-callers.ts';
import type { Exchange } from './request-context.ts';
import type { HubMetrics } from '../monitoring/metrics.ts';
import type { HubRoute } from './route.ts';
import { refusalAnswer } from './refusal-answer.ts';
import type { ServerSettings } from './server-options.ts';

interface DoorkeeperParts {
  readonly http: HttpHost;
  readonly admission: Admission;
  readonly metrics: HubMetrics;
  /** Aborted when the hub is being stopped. */
  readonly draining: AbortSignal;
}

export class Doorkeeper {
  private readonly settings: ServerSettings;
  private readonly parts: DoorkeeperParts;
  private readonly isKnownHost: (authority: string | undefined) => boolean;

  constructor(settings: ServerSettings, parts: DoorkeeperParts) {
    this.settings = settings;
    this.parts = parts;
    this.isKnownHost = hostCheck(settings.host, settings.allowedHosts);
  }

  /** What is wrong with the request whatever it asks for. */
  checkCaller({ raw, request }: Exchange): HttpResponse | undefined {
    const { limits } = this.settings;
    const { http, metrics, draining } = this.parts;
    const refuse = (
      code: 'time out' | 'bad request' | 'forbidden',
      text: string,
      heads?: Parameters<typeof refusalAnswer>[3],
    ) => refusalAnswer(request, new Refusal(code, text), http, heads);
    if (draining.aborted)
      return refuse('time out', 'The hub is being stopped.', { retryAfterSeconds: 1 });
    if (request.path.length > limits.requestLineBytes)
      return refuse('bad request', 'The URL is too long.', { status: 414 });
    if (headerBytes(raw.rawHeaders) > limits.headerBytes)
      return refuse('bad request', 'The headers are too long.', { status: 431 });
    if (!this.isKnownHost(request.headers[':authority'] ?? request.headers['host']))
      return refuse('forbidden', 'This hub is not called by that name.');
    if (isForeign(request, http.cors)) {
      metrics.noteTurnedAway('origin');
      return refuse('forbidden', 'Pages of this origin may not use this hub.');
    }
    return undefined;
  }

  /** Whether it may ask now. */
  checkAdmission({ request, credential }: Exchange, route?: HubRoute): HttpResponse | undefined {
    // A preflight carries no secret and does nothing.
    if (request.method === 'OPTIONS' && request.headers['origin'] !== undefined) return undefined;
    const { http, admission, metrics } = this.parts;
    const refused = admission.refusalOf(request.address, credential, route);
    if (!refused) return undefined;
    const { code, description, retryAfterSeconds } = refused;
    metrics.noteTurnedAway(code === 'too many requests' ? 'rate' : 'memory');
    return refusalAnswer(request, new Refusal(code, description), http, { retryAfterSeconds });
  }

  async checkAdmin({ request }: Exchange): Promise<HttpResponse | undefined> {
    if (this.settings.metrics === 'open') return undefined;
    const { http } = this.parts;
    const secret = secretOf(request.headers['authorization']);
    const found = secret === undefined ? undefined : await http.engine.authenticate(secret);
    if (found?.role === 'admin' && found.database.length === 0) return undefined;
    return refusalAnswer(request, new Refusal('unauthorized', 'Unauthorized'), http);
  }
}

/** Line ends and separators count: they came over the wire. */
const headerBytes = (rawHeaders: readonly string[]): number =>
  rawHeaders.reduce((sum, text) => sum + text.length + 2, 0);
