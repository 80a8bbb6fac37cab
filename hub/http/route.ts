/** Routes of the hub besides the engine's own API, and what the server passes to them. */
import type { HttpRequest, HttpResponse } from '../../src/http/message.ts';
import type { AdmissionRefusal } from '../admission/admission.ts';

export interface HubRequest extends HttpRequest {
  readonly address: string;
  readonly base: string;
  /** The body, for a route that reads bytes. */
  readonly bytes?: Uint8Array | undefined;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** The sender of a request as admission counts it. For routes that do more for it than answer once. */
export interface RouteCaller {
  /** Contains no secret. */
  readonly name: string;
  /**
   * Takes one query from the rate limits of the caller. Resolves when it may run, with a function to call when it ends; or with a
   * refusal.
   */
  admit(): Promise<(() => void) | AdmissionRefusal>;
  /**
   * Counts bytes of an answer as unread until the returned function is called.
   * @returns undefined if the caller has too many unread bytes
   */
  hold(bytes: number): (() => void) | undefined;
}

export interface HubRoute {
  /** The route gets every path that starts with this prefix, for example `/sync/`. */
  readonly prefix: string;
  /** Which of these paths the route takes; all if not given. */
  readonly takes?: (path: string) => boolean;
  /**
   * If the body is an iterable, it is streamed: it is pulled as fast as the client reads, and its iterator is closed when the
   * client disconnects.
   */
  handle(request: HubRequest, caller: RouteCaller): Promise<HttpResponse>;
  /** Pass bodies as `bytes` instead of text. */
  readonly readsBytes?: true | undefined;
  /** Whether a long body is passed as `bodyParts`. @param path including its search */
  readonly takesParts?: ((path: string) => boolean) | undefined;
  /**
   * How many JSON values a body may contain, because the main thread parses it. `Infinity` if the main thread does not parse it.
   * @param path including its search
   */
  readonly bodyValues?: ((path: string) => number) | undefined;
  /** The number of live queries that the route runs, for the metrics. */
  readonly liveQueries?: () => number;
  /** The path at which the route accepts WebSockets, and the function that serves them. A session is closed when `serve` settles. */
  readonly webSocket?: {
    readonly path: string;
    readonly serve: (session: WebSocketSession) => Promise<void>;
  };
}

/** A WebSocket over which a client sends any number of text messages. */
export interface WebSocketSession {
  /** Aborted when the client has disconnected or the hub is stopping. */
  readonly signal: AbortSignal;
  /** @returns the next message; undefined if there are no more */
  next(): Promise<SessionMessage | undefined>;
  /** Resolves when the text was written, or never will be. A client that reads nothing for too long is disconnected. */
  send(text: string): Promise<void>;
  /**
   * From now on, counts the session as a stream of this secret, and its messages as requests of it.
   * @returns the reason if this is not allowed: the caller must then close the session
   */
  countFor(secret: string): AdmissionRefusal | undefined;
  /** Sends a ping, or disconnects a client that has not answered the previous pings. */
  ping(): void;
  close(): void;
}

export interface SessionMessage {
  readonly text: string;
  /** Set if a limit was exceeded: the message must not be processed. */
  readonly refused: AdmissionRefusal | undefined;
  /** Must be called when the message is answered. */
  readonly end: () => void;
}
