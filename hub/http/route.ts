/** What the server hands to routes beside those of the engine. */
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts';
import type { Refused } from '../admission/admission.ts';

export interface HubRequest extends HttpRequest {
  readonly address: string;
  readonly base: string;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
}

/** A connection on which one caller says many things, each a message of text (WebSocket). */
export interface Line {
  /** Aborted when the caller has gone, or the hub is being stopped. */
  readonly signal: AbortSignal;
  /** Undefined: nothing more will come. */
  next(): Promise<LineMessage | undefined>;
  /** Resolves when it is on its way, or never will be: who takes nothing for too long is let go. */
  send(text: string): Promise<void>;
  /** Counts as a stream of that credential, and so does what comes from now on. Returns why it may not: close it. */
  claim(secret: string): Refused | undefined;
  /** Whoever has not answered the last probe by now is gone. */
  probe(): void;
  close(): void;
}

export interface LineMessage {
  readonly text: string;
  /** It is not to be looked at: too much was asked. */
  readonly refused: Refused | undefined;
  /** Call it when it is answered. */
  readonly end: () => void;
}

/** A part of the surface that is served beside the engine's own. */
export interface HubRoute {
  /** Path it begins with, with slashes around: `/sync/`. */
  readonly prefix: string;
  /** Requests per second and credential, beside the rate of all. */
  readonly ratePerCredential?: number;
  /** A body that is an iterable is a stream: it is pulled as fast as it is read, and told to return when the reader has gone. */
  handle(request: HubRequest): Promise<HttpResponse>;
  /** Where it takes lines, and who answers on them: closed when that resolves. */
  readonly line?: { readonly path: string; readonly serve: (line: Line) => Promise<void> };
}
