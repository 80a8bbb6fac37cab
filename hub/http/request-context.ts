/** A request in progress: its contents, its sender, and the response object. */
import type { IncomingHttpHeaders } from 'node:http';
import { networkOf, peerOf } from '../admission/addresses.ts';
import { credentialOf, type Credential } from '../admission/admission.ts';
import type { AnyRequest, AnyResponse } from '../connections/any-request.ts';
import type { HubRequest } from './route.ts';
import type { HubServerOptions } from './server-options.ts';

export interface RequestContext {
  readonly raw: AnyRequest;
  readonly response: AnyResponse;
  readonly request: ReceivedRequest;
  readonly credential: Credential;
  readonly startedMs: number;
  /**
   * The request arrived after the stop of the hub had begun. Requests that arrived earlier are still answered, even if they had
   * to wait for their turn.
   */
  readonly isLate: boolean;
}

/** What is known about a request when it arrives. */
export interface Arrival extends Pick<RequestContext, 'isLate'> {
  readonly address: string;
}

export function contextOf(
  raw: AnyRequest,
  response: AnyResponse,
  { settings, tls }: Pick<HubServerOptions, 'settings' | 'tls'>,
  { address, isLate }: Arrival,
): RequestContext {
  const startedMs = performance.now();
  const headers = headersOf(raw.headers);
  const authority = headers[':authority'] ?? headers['host'] ?? '';
  const request = new ReceivedRequest(response, {
    method: raw.method ?? 'GET',
    path: pathOf(raw.url ?? '/'),
    headers,
    address,
    base: settings.publicUrl ?? `${tls ? 'https' : 'http'}://${authority}`,
  });
  const credential = credentialOf(headers['authorization'], address);
  return { raw, response, request, credential, startedMs, isLate };
}

/** The reason of the abort. Without one, each abort creates an error with a stack trace. */
const GONE = 'The client has disconnected.';

/** The request as routes get it. Its body is set later. The abort signal is created on first use, because few routes need it. */
class ReceivedRequest implements HubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly address: string;
  readonly base: string;
  body: string | undefined = undefined;
  bodyParts: HubRequest['bodyParts'] = undefined;
  bytes: Uint8Array | undefined = undefined;
  private readonly response: AnyResponse;
  private disconnected: AbortController | undefined = undefined;

  constructor(
    response: AnyResponse,
    parts: Omit<HubRequest, 'body' | 'bodyParts' | 'bytes' | 'signal'>,
  ) {
    this.response = response;
    this.method = parts.method;
    this.path = parts.path;
    this.headers = parts.headers;
    this.address = parts.address;
    this.base = parts.base;
  }

  get signal(): AbortSignal {
    if (this.disconnected) return this.disconnected.signal;
    const disconnected = (this.disconnected = new AbortController());
    if (this.isGone) disconnected.abort(GONE);
    else this.response.once('close', () => disconnected.abort(GONE));
    return disconnected.signal;
  }

  get isGone(): boolean {
    return isClosed(this.response);
  }
}

/** Whether nobody waits for the response any more. */
export const isClosed = (response: AnyResponse): boolean =>
  'stream' in response ? response.stream.destroyed : response.destroyed;

function headersOf(headers: IncomingHttpHeaders): Record<string, string> {
  const texts: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) texts[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return texts;
}

/** The address of the caller as limits and the log name it. */
export function addressOf(raw: AnyRequest, trustedProxies: readonly string[]): string {
  const { address, isTrusted } = peerOf(raw.socket, trustedProxies);
  const forwarded = isTrusted ? raw.headers['x-forwarded-for']?.toString() : undefined;
  return forwarded === undefined ? address : networkOf(forwarded.split(',').at(-1)?.trim() ?? '');
}

/** Proxies send the whole URL in the request line. */
const pathOf = (url: string): string =>
  url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
