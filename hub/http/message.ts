/** What the server hands to routes beside those of the engine. */
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts';

export interface HubRequest extends HttpRequest {
  readonly address: string;
  readonly base: string;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
}

/** A part of the surface that is served beside the engine's own. */
export interface HubRoute {
  /** Path it begins with, with slashes around: `/sync/`. */
  readonly prefix: string;
  /** Requests per second and credential, beside the rate of all. */
  readonly ratePerCredential?: number;
  /** A body that is an iterable is a stream: it is pulled as fast as it is read, and told to return when the reader has gone. */
  handle(request: HubRequest): Promise<HttpResponse>;
}
