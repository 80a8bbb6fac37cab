/** Node's HTTP/1.1 server, which does not listen but is handed its connections. Limits pipelined requests and handles upgrades. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Peer } from '../admission/addresses.ts';
import type { HubSettings } from '../settings/settings.ts';
import { ReadingTurns } from './reading-turns.ts';
import { respondToProtocolError } from './response-texts.ts';
import { limitParts, readInPieces, unshiftInPieces } from './small-parts.ts';

export interface Http1Options {
  readonly settings: HubSettings;
  readonly peerOf: (socket: Socket) => Peer;
  /** Called with each request before anything else is done with it. */
  readonly onArrived: (socket: Socket, address: string, response: ServerResponse) => void;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  readonly onUpgrade: (socket: Socket) => void;
  readonly onWebSocket: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** Called when a connection is closed because of what it costs. */
  readonly onMisused: (socket: Socket) => void;
}

const offersWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Newer versions of Node (22.21, 24.9) ask whether to take an offer for an upgrade, and serve the request as usual if not. Node 26 would
 * read the body of an upgrade itself, so requests with a body are served as usual. Others are still declined by `declineUpgrade()`, because
 * Node would lose the requests that arrive in the same chunk.
 */
const UPGRADES = {
  shouldUpgradeCallback: (request: IncomingMessage): boolean =>
    offersWebSocket(request) || !hasBody(request),
};

/** How often Node checks for connections past their deadline. */
const CHECK_MS = 1000;

export class Http1Connections {
  private readonly options: Http1Options;
  private readonly server: Server;
  /** For each connection: requests that wait for the response to an earlier one. */
  private readonly pipelined = new WeakMap<Socket, number>();
  /** Connections with a request whose upgrade was declined, until that request is answered. */
  private readonly declined = new WeakSet<Socket>();
  /** Connections that are read in pieces. */
  private readonly pieced = new WeakSet<Socket>();
  private readonly turns = new ReadingTurns();

  constructor(options: Http1Options) {
    this.options = options;
    this.server = this.createServer();
  }

  serve(socket: Socket): void {
    const { address, isTrusted } = this.options.peerOf(socket);
    // The connections of a trusted proxy are those of many callers.
    if (!isTrusted) this.turns.add(socket, address);
    this.server.emit('connection', socket);
  }

  /** Whether a new connection must wait for a later turn of the event loop, because its address had its share of this one. */
  mustWait(socket: Socket): boolean {
    return this.turns.hasHadShare(this.options.peerOf(socket).address);
  }

  /** Resolves when the requests that have arrived are parsed, also those of paused connections. */
  readAll(): Promise<void> {
    return this.turns.end();
  }

  /** Closes idle connections. Others close after their response. */
  drain(): void {
    this.server.closeIdleConnections();
  }

  destroy(): void {
    // Stops the timer that checks deadlines.
    this.server.close();
  }

  private createServer(): Server {
    const { settings } = this.options;
    const take = (request: IncomingMessage, response: ServerResponse): void =>
      this.take(request, response);
    const server = createServer(
      {
        ...UPGRADES,
        // The limit for request line and headers together. The request guard checks each of them separately.
        maxHeaderSize: settings.headerBytes + settings.requestLineBytes,
        headersTimeout: settings.headerMs,
        // Of the largest body. `readBody()` has the limit of each.
        requestTimeout: settings.requestMs + settings.requestBytes / settings.bodyBytesPerMs,
        keepAliveTimeout: settings.keepAliveMs,
        connectionsCheckingInterval: CHECK_MS,
      },
      take,
    );
    server.on('clientError', respondToProtocolError);
    // Node itself would respond to it without a body, and without a limit on the number of requests that wait.
    server.on('checkExpectation', take);
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      const { onUpgrade, onWebSocket, peerOf } = this.options;
      onUpgrade(socket);
      if (!offersWebSocket(request)) return this.declineUpgrade(request, socket, head);
      this.turns.remove(socket, peerOf(socket).address);
      onWebSocket(request, socket, head);
    });
    // Node starts the timer that checks deadlines when the server listens, which this one never does.
    server.emit('listening');
    return server;
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const { onArrived, onRequest } = this.options;
    const { socket } = request;
    const { address, isTrusted } = this.options.peerOf(socket);
    onArrived(socket, address, response);
    if (!isTrusted) this.turns.requested(socket, address);
    limitParts(request, () => this.endMisused(socket));
    if (request.headers['transfer-encoding'] !== undefined && !this.pieced.has(socket)) {
      this.pieced.add(socket);
      readInPieces(socket);
    }
    if (this.declined.has(socket)) response.once('close', () => this.declined.delete(socket));
    // A response has no socket only while it waits for the response to an earlier request.
    if (response.socket === null && !this.mayWait(socket, response)) request.destroy();
    else onRequest(request, response);
  }

  /**
   * Closes a connection that sends too many requests before it reads a response: all of them would be served in one turn of the
   * event loop.
   */
  private mayWait(socket: Socket, response: ServerResponse): boolean {
    const count = (this.pipelined.get(socket) ?? 0) + 1;
    if (count > this.options.settings.pipelined) {
      if (!socket.destroyed) closeWithoutStacks(socket);
      this.endMisused(socket);
      // Requests in the chunk that is being parsed are destroyed by the caller, which costs Node least.
      return false;
    }
    this.pipelined.set(socket, count);
    response.once('close', () => this.pipelined.set(socket, (this.pipelined.get(socket) ?? 1) - 1));
    return true;
  }

  /**
   * Serves the request as if it had not offered an upgrade. Java's client offers h2c with each request; it sends them one after
   * the other.
   */
  private declineUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    if (this.declined.has(socket)) return this.endMisused(socket);
    this.declined.add(socket);
    const { method, url, rawHeaders } = request;
    const lines = [`${method} ${url} HTTP/1.1`];
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.toLowerCase() !== 'upgrade')
        lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    const start = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
    unshiftInPieces(socket, Buffer.concat([start, head]));
    this.server.emit('connection', socket);
  }

  private endMisused(socket: Socket): void {
    if (socket.destroyed) return;
    this.options.onMisused(socket);
    // Node would parse the pieces that have been read although the socket is destroyed, which Node 26 no longer lets pause.
    socket.pause();
    socket.destroy();
    stopParsing(socket);
  }
}

/**
 * Prevents Node from creating thousands of requests from the rest of the 64 KiB that it has just read. Node has no public API for
 * this.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: { onIncoming: unknown } | null };
  // The return value 2 is that of an upgrade: the parser ignores what follows.
  if (parser) parser.onIncoming = () => 2;
}

/**
 * Node creates an error for each request that it aborts when the connection closes. Without this there would be thousands of
 * stack traces that nobody sees.
 */
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
