/** A route of the hub beside the engine's own surface, and what the server passes to it. */
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts';
import type { AdmissionRefusal } from '../admission/admission.ts';

export interface HubRequest extends HttpRequest {
  readonly address: string;
  readonly base: string;
  /** Of the body, for a route that reads bytes. */
  readonly bytes?: Uint8Array | undefined;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** Who sent a request, as admission counts them: for routes that do more in their name than answer once. */
export interface RouteCaller {
  /** No secret. */
  readonly name: string;
  /** Takes one query from their rates, and resolves when it may run, with what is to be called at its end. */
  admit(): Promise<(() => void) | AdmissionRefusal>;
  /** Counts so many bytes of an answer as not read yet, until the returned function is called. Undefined: too many. */
  hold(bytes: number): (() => void) | undefined;
}

export interface HubRoute {
  /** Every path that starts with it, with slashes around: `/sync/`. */
  readonly prefix: string;
  /** Of these paths, those that it takes; all, when left out. */
  readonly takes?: (path: string) => boolean;
  /** A body that is an iterable is streamed: pulled as fast as the client reads, and returned early when the client disconnects. */
  handle(request: HubRequest, caller: RouteCaller): Promise<HttpResponse>;
  /** Bodies are given as `bytes` instead of text. */
  readonly readsBytes?: true | undefined;
  /** Whether a long body is given as `bodyParts`. @param path with its search */
  readonly takesParts?: ((path: string) => boolean) | undefined;
  /** How many values a body may have, because the thread parses it that answers all; `Infinity`: it does not. @param path with its search */
  readonly bodyValues?: ((path: string) => number) | undefined;
  /** Live queries that it runs, for the metrics. */
  readonly liveQueries?: () => number;
  /** Where it takes WebSockets, and who serves them: a session is closed when that resolves. */
  readonly webSocket?: {
    readonly path: string;
    readonly serve: (session: WebSocketSession) => Promise<void>;
  };
}

/** A WebSocket over which one client sends many text messages. */
export interface WebSocketSession {
  /** Aborted when the client has disconnected, or the hub is stopping. */
  readonly signal: AbortSignal;
  /** Undefined: no more messages. */
  next(): Promise<SessionMessage | undefined>;
  /** Resolves when the text is on its way, or never will be: a client that reads nothing for too long is disconnected. */
  send(text: string): Promise<void>;
  /** From now on the session counts as a stream of this secret, and its messages as requests of it. Returns why it may not: close it then. */
  countFor(secret: string): AdmissionRefusal | undefined;
  /** Disconnects a client that has not answered the pings before. */
  ping(): void;
  close(): void;
}

export interface SessionMessage {
  readonly text: string;
  /** Set: a limit was exceeded, and the message is not to be processed. */
  readonly refused: AdmissionRefusal | undefined;
  /** Call it when the message is answered. */
  readonly end: () => void;
}
