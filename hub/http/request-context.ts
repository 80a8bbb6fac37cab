/** A request on its way: what it is, whose it is, and where its answer goes. */
import type { IncomingHttpHeaders } from 'node:http';
import type { AnyRequest, AnyResponse } from './acceptor.ts';
import { credentialOf, type Credential } from '../admission/admission.ts';
import type { HubRequest } from './route.ts';
import type { ServerSettings } from './server-options.ts';

export interface Exchange {
  readonly raw: AnyRequest;
  readonly response: AnyResponse;
  readonly request: ArrivedRequest;
  readonly credential: Credential;
  readonly arrivedMs: number;
  /** Under which name it is counted. */
  readonly route: string;
}

export function exchangeOf(
  raw: AnyRequest,
  response: AnyResponse,
  route: string,
  settings: Pick<ServerSettings, 'tls' | 'publicUrl' | 'trustedProxies'>,
): Exchange {
  const arrivedMs = performance.now();
  const headers = headersOf(raw.headers);
  const address = addressOf(raw, headers, settings.trustedProxies);
  const authority = headers[':authority'] ?? headers['host'] ?? '';
  const scheme = settings.tls ? 'https' : 'http';
  const request = new ArrivedRequest(response, {
    method: raw.method ?? 'GET',
    path: pathOf(raw.url ?? '/'),
    headers,
    address,
    base: settings.publicUrl ?? `${scheme}://${authority}`,
  });
  const credential = credentialOf(headers['authorization'], address);
  return { raw, response, request, credential, arrivedMs, route };
}

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

function headersOf(headers: IncomingHttpHeaders): Record<string, string> {
  const texts: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) texts[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return texts;
}

function addressOf(
  raw: AnyRequest,
  headers: HubRequest['headers'],
  trustedProxies: readonly string[],
): string {
  const peer = raw.socket.remoteAddress ?? '';
  if (!trustedProxies.includes(peer)) return peer;
  return headers['x-forwarded-for']?.split(',').at(-1)?.trim() ?? peer;
}

/** A proxy sends the whole URL. */
const pathOf = (url: string): string =>
  url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
