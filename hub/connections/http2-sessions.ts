/** Node's server for HTTP/2, which is given its connections: how many streams a session and an address may have, and resets. */
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
import type { Peer } from '../admission/addresses.ts';
import { Counts, TokenBuckets } from '../admission/token-buckets.ts';
import { InFlight } from '../event-loop/in-flight.ts';
import type { HubSettings } from '../settings/settings.ts';
import { limitParts } from './small-parts.ts';

export interface Http2Options {
  readonly settings: HubSettings;
  readonly peerOf: (socket: Pick<Socket, 'remoteAddress'>) => Peer;
  readonly onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  /** A session is ended for what it costs. */
  readonly onMisused: (peer: Peer) => void;
}

/** Sessions of one address that may have as many streams open as a session may. */
const FULL_SESSIONS = 50;

export class Http2Sessions {
  private readonly options: Http2Options;
  private readonly server: Http2Server;
  private readonly sessions = new Set<ServerHttp2Session>();
  /** What a client begins beyond it waits at the client, silently: so the limit of its credential has to come first. */
  private readonly streamsPerSession: number;
  /** By address: streams of all its sessions. */
  private readonly streams = new Counts();
  /** The same streams: a response is written later than it is given to Node. */
  private readonly open = new InFlight();

  constructor(options: Http2Options) {
    this.options = options;
    const { requestsPerSession, streamsPerCredential } = options.settings;
    this.streamsPerSession = requestsPerSession + streamsPerCredential;
    this.server = this.createServer();
  }

  serve(socket: Socket): void {
    this.server.emit('connection', socket);
  }

  /** Sessions end with what is in flight on them. */
  drain(): void {
    for (const session of this.sessions) session.close();
  }

  /** Resolves when what was answered is on its way, or after so many ms. */
  ended(ms: number): Promise<void> {
    return this.open.ended(ms);
  }

  destroy(): void {
    for (const session of this.sessions) endWithError(session, constants.NGHTTP2_INTERNAL_ERROR);
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
    server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
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
    session.once('close', () => this.sessions.delete(session));
    session.on('error', () => session.destroy());
    session.setTimeout(settings.headerMs, () => {
      if (open === 0) session.destroy();
    });
    let begunInTurn = 0;
    session.on('stream', (stream) => {
      open += 1;
      if (begunInTurn === 0) setImmediate(() => (begunInTurn = 0));
      begunInTurn += 1;
      // No more may be open at once: these were begun to be reset.
      if (begunInTurn > this.streamsPerSession || this.streams.of(peer.address) >= streamsMax)
        return end();
      stream.once('close', this.streams.hold(peer.address));
      void this.open.track(new Promise((resolve) => stream.once('close', resolve)));
      session.setTimeout(settings.sessionIdleMs);
      // A reset by the client is no failure of the hub. Many before there is a response are: each costs what its request began.
      stream.on('error', () => undefined);
      stream.once('aborted', () => {
        if (!stream.headersSent && resets.take('') !== undefined) end();
      });
      stream.once('close', () => {
        open -= 1;
      });
    });
  }

  /** Each costs memory while it is open, whoever it is of. */
  private streamsMaxOf({ isTrusted }: Peer): number {
    const { requestsPerSession, socketsPerAddress, streamsPerCredential } = this.options.settings;
    const sessions = Math.min(socketsPerAddress, FULL_SESSIONS);
    return isTrusted ? Infinity : requestsPerSession * sessions + streamsPerCredential;
  }

  /** A proxy has the streams of others on its session. */
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

/** Without a code Node's client closes its streams without an error: whoever awaits one waits for ever. */
function endWithError(session: Http2Session, code: number): void {
  session.destroy(new Error('Ended by the hub.'), code);
}
