/**
 * One port for HTTP/1.1, HTTP/2 and WebSockets: distinguished by ALPN over TLS, by the first bytes without it, for the original's
 * drivers speak HTTP/2 with prior knowledge on cleartext ports. Connections are counted, and have a deadline to say what they
 * want. States, order and tests: README.md.
 */
import {
  createServer as createHttp1,
  type IncomingMessage,
  type Server as Http1,
  type ServerResponse,
} from 'node:http';
import {
  constants,
  createServer as createHttp2,
  type Http2Server,
  type Http2Session,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createNet, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import { peerOf, type Peer } from '../admission/addresses.ts';
import { Counts, TokenBuckets } from '../admission/token-buckets.ts';
import type { HubSettings } from '../settings/settings.ts';
import { IdleConnections } from './idle-connections.ts';
import { InFlight } from './in-flight.ts';
import type { TlsFiles } from './server-options.ts';
import { WaitingConnections } from './waiting-connections.ts';

export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = ServerResponse | Http2ServerResponse;

export interface AcceptorOptions {
  readonly tls: TlsFiles | undefined;
  readonly settings: HubSettings;
  readonly onRequest: (request: AnyRequest, response: AnyResponse) => void;
  readonly onWebSocket: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** A connection was closed before anything of it was read: there are too many. */
  readonly onRefused: () => void;
}

/** How often Node looks for HTTP/1.1 connections that are past their deadline. */
const CHECK_MS = 1000;

/** Connections of one address that may be closed for what they cost: so many at once, and per second. Then it has to wait. */
const MISUSES_AT_ONCE = 8;
const MISUSES_PER_SECOND = 1;
/** Sessions of one address that may have as many streams open as a session may. */
const FULL_SESSIONS = 50;
/** More than one request sends first, mostly: all that is in it is parsed in one turn. */
const HEAD_BYTES = 16 * 1024;
/** Such a chunk is parsed in pieces of so many bytes, until the connection is closed for what it sends. */
const PIECE_BYTES = 4 * 1024;
/** Parts in which bodies may come, however small they are; beyond it, one for each so many bytes. */
const PARTS_FREE = 2048;
const PART_BYTES = 16;
/** A connection that has waited too long has so long to read its answer. */
const FAREWELL_MS = 1000;
/** How often one that waits gets the place of one that is idle. */
const LOOK_MS = 100;
const PREFACE = Buffer.from('PRI');
const nowMs = (): number => performance.now();

export class Acceptor {
  private readonly options: AcceptorOptions;
  private readonly http1: Http1;
  private readonly http2: Http2Server;
  private readonly server: Server;
  private readonly serve: (socket: Socket) => void;
  /** Those that are served. */
  private readonly sockets = new Set<Socket>();
  /** By address. */
  private readonly connections = new Counts();
  private readonly idle = new IdleConnections();
  private readonly waiting: WaitingConnections;
  private looking: ReturnType<typeof setTimeout> | undefined = undefined;
  private readonly sessions = new Set<ServerHttp2Session>();
  /** What a client begins beyond it waits at the client, silently: so the limit of its credential has to come first. */
  private readonly streamsPerSession: number;
  /** By address: streams of all its sessions. */
  private readonly streams = new Counts();
  /** The same streams: a response is written later than it is given to Node. */
  private readonly open = new InFlight();
  /** By connection: requests over HTTP/1.1 that wait for the response to one before. */
  private readonly pipelined = new WeakMap<Socket, number>();
  /** Connections whose offer of an upgrade was declined, until that request is answered. */
  private readonly declined = new WeakSet<Socket>();
  /** Connections that are read in pieces. */
  private readonly pieced = new WeakSet<Socket>();
  private readonly longHeads: (() => void)[] = [];
  /** By address. */
  private readonly misuses = new TokenBuckets(
    MISUSES_PER_SECOND,
    MISUSES_AT_ONCE / MISUSES_PER_SECOND,
    nowMs,
  );

  constructor(options: AcceptorOptions) {
    this.options = options;
    const { requestsPerSession, streamsPerCredential } = options.settings;
    this.streamsPerSession = requestsPerSession + streamsPerCredential;
    this.http1 = this.createHttp1();
    this.http2 = this.createHttp2();
    const { socketsPerAddress: perAddress, connectionWaitMs: waitMs } = options.settings;
    const onLate = (socket: Socket): void => this.refuseLate(socket);
    this.waiting = new WaitingConnections({ perAddress, waitMs, onLate });
    this.serve = options.tls ? this.tlsOver(options.tls) : (socket) => this.detectProtocol(socket);
    this.server = this.createServer();
  }

  /** Those that wait are among them. */
  get socketCount(): number {
    return this.sockets.size + this.waiting.count;
  }

  listen(port: number, host: string): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ port, host, backlog: 1024 }, () => {
        this.server.off('error', reject);
        resolve(this.server.address() as AddressInfo);
      });
    });
  }

  /** Accepts no new connection; those that are open end with what is in flight on them. */
  drain(): void {
    this.server.close();
    for (let socket = this.waiting.any(); socket; socket = this.waiting.any())
      socket.resetAndDestroy();
    this.http1.closeIdleConnections();
    for (const session of this.sessions) session.close();
  }

  /** Resolves when what was answered over HTTP/2 is on its way, or after so many ms. */
  ended(ms: number): Promise<void> {
    return this.open.ended(ms);
  }

  /** Ends every connection, whatever is in flight. */
  destroy(): void {
    this.http1.closeIdleConnections();
    for (const session of this.sessions) endWithError(session, constants.NGHTTP2_INTERNAL_ERROR);
    for (const socket of this.sockets) socket.destroy();
    // Stops the timer that looks for late connections.
    this.http1.close();
  }

  private createHttp1(): Http1 {
    const { settings, onWebSocket } = this.options;
    const server = createHttp1(
      {
        // One number for both: the request guard checks each by itself.
        maxHeaderSize: settings.headerBytes + settings.requestLineBytes,
        headersTimeout: settings.headerMs,
        requestTimeout: settings.requestMs,
        keepAliveTimeout: settings.keepAliveMs,
        connectionsCheckingInterval: CHECK_MS,
      },
      (request, response) => this.takeHttp1(request, response),
    );
    server.on('clientError', respondToProtocolError);
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.idle.remove(socket, this.peerOf(socket).address);
      if (request.headers.upgrade?.toLowerCase() === 'websocket')
        onWebSocket(request, socket, head);
      else this.declineUpgrade(request, socket, head);
    });
    // It starts the timer for late connections when it listens, and this one is handed its connections.
    server.emit('listening');
    return server;
  }

  /** A connection that sends many requests before it reads a response is closed: all of them would be served in one turn. */
  private takeHttp1(request: IncomingMessage, response: ServerResponse): void {
    const { settings, onRequest } = this.options;
    const { socket } = request;
    const { address } = this.peerOf(socket);
    this.idle.track(socket, address, response);
    if (this.waiting.has(address)) this.idle.endNext(address);
    limitParts(request, () => this.endMisused(socket, this.peerOf(socket)));
    if (request.headers['transfer-encoding'] !== undefined && !this.pieced.has(socket)) {
      this.pieced.add(socket);
      readInPieces(socket);
    }
    if (this.declined.has(socket)) response.once('close', () => this.declined.delete(socket));
    // Only a response whose turn has not come is without it.
    if (response.socket === null) {
      const count = (this.pipelined.get(socket) ?? 0) + 1;
      if (count > settings.pipelined) {
        if (!socket.destroyed) closeWithoutStacks(socket);
        this.endMisused(socket, this.peerOf(socket));
        // The pieces that are not parsed yet never are.
        socket.pause();
        // One of many in the chunk that is being parsed: a request that is ended already costs Node least.
        request.destroy();
        return;
      }
      this.pipelined.set(socket, count);
      response.once('close', () =>
        this.pipelined.set(socket, (this.pipelined.get(socket) ?? 1) - 1),
      );
    }
    onRequest(request, response);
  }

  /** Serves the request as if it had not offered an upgrade: clients in Java offer h2c with each, one after the other. */
  private declineUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (this.declined.has(socket)) {
      this.endMisused(socket, this.peerOf(socket));
      return;
    }
    this.declined.add(socket);
    const { method, url, rawHeaders } = request;
    const lines = [`${method} ${url} HTTP/1.1`];
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.toLowerCase() !== 'upgrade')
        lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    const start = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    unshiftInPieces(socket, Buffer.concat([start, head]));
    this.http1.emit('connection', socket);
  }

  private createHttp2(): Http2Server {
    const { settings, onRequest } = this.options;
    const server = createHttp2({
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
    server.on('session', (session) => this.watchSession(session));
    server.on('sessionError', (_reason, session) => session.destroy());
    return server;
  }

  /** Nothing of a connection is read before it is served. */
  private createServer(): Server {
    return createNet({ noDelay: true, pauseOnConnect: true }, (socket) => this.arrive(socket));
  }

  /** @returns what begins the handshake on a connection */
  private tlsOver(files: TlsFiles): (socket: Socket) => void {
    const server = createTls({
      ...files,
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: this.options.settings.headerMs,
    });
    server.on('secureConnection', (socket: TLSSocket) =>
      (socket.alpnProtocol === 'h2' ? this.http2 : this.http1).emit('connection', socket),
    );
    server.on('tlsClientError', (_reason, socket) => socket.destroy());
    return (socket) => void server.emit('connection', socket);
  }

  /** Of an address that does it again and again, connections are refused for a while: each one anew would cost the hub as much. */
  private endMisused(connection: Socket | Http2Session, { address }: Peer): void {
    if (connection.destroyed) return;
    this.misuses.take(address);
    if ('goaway' in connection) endWithError(connection, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else {
      connection.destroy();
      stopParsing(connection);
    }
  }

  /** A proxy has the streams of others on its session. */
  private endOversent(stream: ServerHttp2Stream): void {
    const { session } = stream;
    const peer = session && this.peerOf(session.socket);
    if (peer && !peer.isTrusted) this.endMisused(session, peer);
    else stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  private arrive(socket: Socket): void {
    const peer = this.peerOf(socket);
    if (this.isBarred(peer)) this.refuse(socket);
    else if (this.makeRoom(peer)) this.admit(socket, peer);
    else if (this.wait(socket, peer)) {
      this.idle.endNext(peer.address);
      this.lookForIdle();
    } else if (this.idle.endOldest(peer.address, 1, 0)) this.admit(socket, peer);
    else this.refuse(socket);
  }

  /** Those that wait get the places of connections that are idle: not at once, for a request on one of those may be there already. */
  private lookForIdle(): void {
    // After what has come on connections meanwhile was read: where nothing was for a while, timers are first.
    this.looking ??= setTimeout(() => setImmediate(this.endIdle), LOOK_MS);
  }

  private readonly endIdle = (): void => {
    this.looking = undefined;
    for (const [address, count] of this.waiting.counts()) this.idle.endOldest(address, count);
    if (this.waiting.count > 0) this.lookForIdle();
  };

  private isBarred({ address, isTrusted }: Peer): boolean {
    return !isTrusted && !this.misuses.hasLeft(address);
  }

  /** @returns false: there is no place for another connection of this peer. */
  private makeRoom(peer: Peer): boolean {
    if (this.hasAll(peer)) return false;
    return (
      this.socketCount < this.options.settings.sockets ||
      this.endWaiting() ||
      this.idle.endOldest(peer.address)
    );
  }

  private hasAll({ address, isTrusted }: Peer): boolean {
    return !isTrusted && this.connections.of(address) >= this.options.settings.socketsPerAddress;
  }

  /** Those that wait have places that nobody else needs. */
  private wait(socket: Socket, { address, isTrusted }: Peer): boolean {
    const isFull = this.socketCount >= this.options.settings.sockets;
    return !isTrusted && !isFull && this.waiting.add(socket, address);
  }

  private endWaiting(): boolean {
    const socket = this.waiting.any();
    if (socket) this.refuse(socket);
    return socket !== undefined;
  }

  /** A connection that ends as usual tells Node's client over HTTP/2 nothing: what it began never fails. */
  private refuse(socket: Socket): void {
    this.options.onRefused();
    socket.on('error', () => undefined).resetAndDestroy();
  }

  /** What came meanwhile is read, or its client would be told of a reset instead. */
  private refuseLate(socket: Socket): void {
    if (this.options.tls) return this.refuse(socket);
    this.options.onRefused();
    this.hold(socket);
    const end = setTimeout(() => socket.destroy(), FAREWELL_MS);
    socket.once('close', () => clearTimeout(end)).on('error', () => undefined);
    socket.end(LATE).resume();
  }

  private admit(socket: Socket, peer: Peer): void {
    this.hold(socket);
    socket.setKeepAlive(true, this.options.settings.slowReaderMs);
    const release = this.connections.hold(peer.address);
    socket.once('close', () => {
      release();
      this.admitWaiting(peer);
    });
    this.serve(socket);
  }

  private admitWaiting(peer: Peer): void {
    while (!this.hasAll(peer)) {
      const socket = this.waiting.next(peer.address);
      if (!socket) return;
      this.arrive(socket);
    }
  }

  private hold(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }

  private peerOf(socket: { readonly remoteAddress?: string | undefined }): Peer {
    return peerOf(socket, this.options.settings.trustedProxies);
  }

  /** Three bytes suffice: no method of HTTP/1.1 starts like the preface of HTTP/2. */
  private detectProtocol(socket: Socket): void {
    if (socket.destroyed) return;
    const late = setTimeout(() => socket.destroy(), this.options.settings.headerMs);
    const ignore = (): void => undefined;
    let head = Buffer.alloc(0);
    const onReadable = (): void => {
      const part = socket.read() as Buffer | null;
      if (part === null) return;
      head = Buffer.concat([head, part]);
      if (head.length < PREFACE.length && PREFACE.subarray(0, head.length).equals(head)) return;
      clearTimeout(late);
      socket.off('readable', onReadable);
      unshiftInPieces(socket, head);
      const isHttp2 = head.subarray(0, PREFACE.length).equals(PREFACE);
      const handOver = (): void => {
        socket.off('error', ignore);
        if (!socket.destroyed) (isHttp2 ? this.http2 : this.http1).emit('connection', socket);
      };
      if (head.length > HEAD_BYTES) this.inTurn(handOver);
      else handOver();
    };
    socket.on('error', ignore);
    socket.on('readable', onReadable);
    socket.once('close', () => clearTimeout(late));
  }

  /** One in each turn of the event loop. */
  private inTurn(handOver: () => void): void {
    this.longHeads.push(handOver);
    if (this.longHeads.length === 1) setImmediate(this.handOverNext);
  }

  private readonly handOverNext = (): void => {
    this.longHeads[0]?.();
    this.longHeads.shift();
    if (this.longHeads.length > 0) setImmediate(this.handOverNext);
  };

  /** Each costs memory while it is open, whoever it is of. */
  private streamsMaxOf({ isTrusted }: Peer): number {
    const { requestsPerSession, socketsPerAddress, streamsPerCredential } = this.options.settings;
    const sessions = Math.min(socketsPerAddress, FULL_SESSIONS);
    return isTrusted ? Infinity : requestsPerSession * sessions + streamsPerCredential;
  }

  private watchSession(session: ServerHttp2Session): void {
    const { settings } = this.options;
    const peer = this.peerOf(session.socket);
    const end = (): void => this.endMisused(session, peer);
    this.sessions.add(session);
    let open = 0;
    const { resetsPerSecond, resetsAtOnce } = settings;
    const streamsMax = this.streamsMaxOf(peer);
    const resets = new TokenBuckets(resetsPerSecond, resetsAtOnce / resetsPerSecond, nowMs);
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
}

/** Without a code Node's client closes its streams without an error: whoever awaits one waits for ever. */
function endWithError(session: Http2Session, code: number): void {
  session.destroy(new Error('Ended by the hub.'), code);
}

/** Node would make thousands of requests of what is left of the 64 KiB that it has just read. It has no public way to stop. */
function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: { onIncoming: unknown } | null };
  // As after an upgrade, what follows is not for the parser.
  if (parser) parser.onIncoming = () => 2;
}

/** What Node reads in one go would be parsed in one go, in thousands of parts if they are small. */
function readInPieces(socket: Socket): void {
  const push = socket.push.bind(socket);
  // Whoever listens is given it by Node's stream instead of its parser.
  socket.on('data', () => undefined);
  socket.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null) return push(chunk, encoding);
    let isWanted = true;
    for (let at = 0; at < chunk.length && !socket.destroyed; at += PIECE_BYTES)
      isWanted = push(chunk.subarray(at, at + PIECE_BYTES), encoding);
    return isWanted;
  };
}

/** Each is read by itself. */
function unshiftInPieces(socket: Socket, head: Buffer): void {
  const bytes = head.length > HEAD_BYTES ? PIECE_BYTES : head.length;
  for (let at = Math.floor((head.length - 1) / bytes) * bytes; at >= 0; at -= bytes)
    socket.unshift(head.subarray(at, at + bytes));
}

/** Each part costs Node a hundred times its byte: nobody means to send thousands of them. */
function limitParts(request: AnyRequest, end: () => void): void {
  let left = PARTS_FREE;
  const push = request.push.bind(request);
  request.push = (part: Buffer | null, encoding) => {
    if (left >= 0 && part !== null) {
      left += part.length / PART_BYTES - 1;
      if (left < 0) end();
    }
    // What comes after the end is not kept.
    return left < 0 || push(part, encoding);
  };
}

/** Of each request that it aborts when a connection closes, Node makes an error: thousands of stacks that nobody sees. */
function closeWithoutStacks(socket: Socket): void {
  let limit = Error.stackTraceLimit;
  socket.prependOnceListener('close', () => {
    limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    Error.stackTraceLimit = limit;
  });
}

/** Errors below the request: there is none to route yet. */
function respondToProtocolError(reason: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  const [status, code] =
    reason.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'bad request']
      : reason.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'request timeout']
        : ['400 Bad Request', 'bad request'];
  socket.end(responseText(status, code, 'The request could not be read.'));
}

/** Of a response that no request has. */
function responseText(status: string, code: string, description: string, headers = ''): string {
  const body = JSON.stringify({ errors: [{ code, description }] });
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json;charset=utf-8\r\n${headers}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
}

const LATE = responseText(
  '429 Too Many Requests',
  'too many requests',
  'Other connections of this address were busy for too long: open fewer at a time, or keep them open between requests.',
  'retry-after: 1\r\n',
);
