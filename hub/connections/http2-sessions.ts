/**
 * Node's HTTP/2 server, which does not listen but is handed its connections. Limits streams per session and per address, and
 * resets.
 */
import {
  constants,
  createServer,
  type Http2Session,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { after } from '../../hosts/after.ts';
import type { Peer } from '../admission/addresses.ts';
import { Counts, TokenBuckets } from '../admission/token-buckets.ts';
import { InFlight } from '../event-loop/in-flight.ts';
import type { HubSettings } from '../settings/settings.ts';
import { ENDED_AT_ONCE, streamsBegunIn } from './http2-frames.ts';
import { limitParts } from './small-parts.ts';

export interface Http2Options {
  readonly settings: HubSettings;
  readonly peerOf: (socket: Pick<Socket, 'remoteAddress'>) => Peer;
  readonly onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  /** Called when a session is ended because of what it costs. */
  readonly onMisused: (peer: Peer) => void;
}

/** How many sessions of one address may have the maximum number of open requests at the same time. */
const FULL_SESSIONS = 50;

export class Http2Sessions {
  private readonly options: Http2Options;
  private readonly server: Http2Server;
  private readonly sessions = new Set<ServerHttp2Session>();
  /**
   * Limit of concurrent streams. A client holds further requests back without telling its caller, so this limit must be above
   * that of the credential, which is answered with an error.
   */
  private readonly streamsPerSession: number;
  /** Open streams of all sessions, by address. */
  private readonly streams = new Counts();
  /** The same streams, to wait for at a stop: a response is written to the socket some time after it is passed to Node. */
  private readonly open = new InFlight();

  constructor(options: Http2Options) {
    this.options = options;
    const { requestsPerSession, streamsPerCredential } = options.settings;
    this.streamsPerSession = requestsPerSession + streamsPerCredential;
    this.server = this.createServer();
  }

  /**
   * @param first the bytes that have arrived, if they are known. Node would parse all of them in one turn, and each stream costs
   * work even if its reset follows at once. So a client that begins more streams in them than a session may have is ended before.
   */
  serve(socket: Socket, first = Buffer.alloc(0)): void {
    if (streamsBegunIn(first) <= this.streamsPerSession) {
      this.server.emit('connection', socket);
      return;
    }
    this.options.onMisused(this.options.peerOf(socket));
    socket.on('error', () => undefined);
    socket.end(ENDED_AT_ONCE, () => socket.destroy());
  }

  /** Ends each session when its requests in progress have ended. */
  drain(): void {
    for (const session of this.sessions) session.close();
  }

  /** Resolves when all responses have been written, at the latest after `ms`. */
  ended(ms: number): Promise<void> {
    return this.open.ended(ms);
  }

  async destroy(): Promise<void> {
    const code = constants.NGHTTP2_INTERNAL_ERROR;
    for (const session of this.sessions) if (!session.destroyed) session.goaway(code);
    // Node does not send the code of a session that is destroyed during a write.
    await setImmediate();
    await setImmediate();
    for (const session of this.sessions) endWithError(session, code);
  }

  private createServer(): Http2Server {
    const { settings, onRequest } = this.options;
    const server = createServer({
      maxSessionMemory: 16,
      settings: {
        maxConcurrentStreams: this.streamsPerSession,
        maxHeaderListSize: settings.headerBytes + settings.requestLineBytes,
        enablePush: false,
      },
    });
    // Node itself would respond to an expectation that it does not know without a body.
    for (const event of ['request', 'checkExpectation'])
      server.on(event, (request: Http2ServerRequest, response: Http2ServerResponse) => {
        limitParts(request, () => this.endOversent(request.stream));
        onRequest(request, response);
      });
    server.on('session', (session) => this.watch(session));
    server.on('sessionError', (_reason, session) => session.destroy());
    return server;
  }

  private watch(session: ServerHttp2Session): void {
    const { settings, peerOf } = this.options;
    const peer = peerOf(session.socket);
    const end = (): void => this.endMisused(session, peer);
    this.sessions.add(session);
    let open = 0;
    const { resetsPerSecond, resetsAtOnce } = settings;
    const streamsMax = this.streamsMaxOf(peer);
    const resets = new TokenBuckets(resetsPerSecond, resetsAtOnce / resetsPerSecond, () =>
      performance.now(),
    );
    const idle = new IdleTimer(session, () => open === 0);
    idle.start(settings.headerMs);
    session.on('ping', () => idle.start());
    session.once('close', () => {
      idle.stop();
      this.sessions.delete(session);
    });
    session.on('error', () => session.destroy());
    let begunInTurn = 0;
    session.on('stream', (stream) => {
      open += 1;
      if (begunInTurn === 0) void setImmediate().then(() => (begunInTurn = 0));
      begunInTurn += 1;
      // More than may be open at once, so the client resets streams as fast as it begins them.
      if (begunInTurn > this.streamsPerSession || this.streams.of(peer.address) >= streamsMax)
        return end();
      stream.once('close', this.streams.hold(peer.address));
      void this.open.track(new Promise((resolve) => stream.once('close', resolve)));
      // A reset by the client is not an error of the hub. But many resets before a response are misuse, because each request
      // costs work that is then thrown away.
      stream.on('error', () => undefined);
      stream.once('aborted', () => {
        if (!stream.headersSent && resets.take('') !== undefined) end();
      });
      stream.once('close', () => {
        open -= 1;
        idle.start(settings.sessionIdleMs);
      });
    });
  }

  /** The number of streams that all sessions of a peer may have open together, because each open stream costs memory. */
  private streamsMaxOf({ isTrusted }: Peer): number {
    const { requestsPerSession, socketsPerAddress, streamsPerCredential } = this.options.settings;
    const sessions = Math.min(socketsPerAddress, FULL_SESSIONS);
    return isTrusted ? Infinity : requestsPerSession * sessions + streamsPerCredential;
  }

  /**
   * Ends the session of a client that sends a body in too many small parts. Only the stream of a proxy is closed, because the
   * session also carries requests of others.
   */
  private endOversent(stream: ServerHttp2Stream): void {
    const { session } = stream;
    const peer = session && this.options.peerOf(session.socket);
    if (peer && !peer.isTrusted) this.endMisused(session, peer);
    else stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  private endMisused(session: Http2Session, peer: Peer): void {
    if (session.destroyed) return;
    this.options.onMisused(peer);
    endWithError(session, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

/**
 * Destroys a session that is idle for some time. `session.setTimeout()` is not used: Node 20 does not clear its timer when the
 * session ends, and the timer keeps the session in memory.
 */
class IdleTimer {
  private readonly session: ServerHttp2Session;
  private readonly isIdle: () => boolean;
  private ms = 0;
  private cancel: (() => void) | undefined = undefined;

  constructor(session: ServerHttp2Session, isIdle: () => boolean) {
    this.session = session;
    this.isIdle = isIdle;
  }

  /** @param ms by default as long as the last time */
  start(ms = this.ms): void {
    this.stop();
    if (this.session.destroyed) return;
    this.ms = ms;
    this.cancel = after(ms, () => {
      if (this.isIdle()) this.session.destroy();
    });
  }

  stop(): void {
    this.cancel?.();
  }
}

/**
 * Ends a session with an error code. Without one, Node's client closes its streams without an error, and code that awaits a
 * response would wait for ever.
 */
function endWithError(session: Http2Session, code: number): void {
  session.destroy(new Error('Ended by the hub.'), code);
}
