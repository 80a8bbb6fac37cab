/** Node's server for HTTP/1.1, which is given its connections: how many requests one may send before it reads responses, and its upgrades. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HubSettings } from '../settings/settings.ts';
import { respondToProtocolError } from './response-texts.ts';
import { limitParts, readInPieces, unshiftInPieces } from './small-parts.ts';

export interface Http1Options {
  readonly settings: HubSettings;
  /** Each request, before anything else is done with it. */
  readonly onArrived: (request: IncomingMessage, response: ServerResponse) => void;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  readonly onUpgrade: (socket: Socket) => void;
  readonly onWebSocket: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** A connection is closed for what it costs. */
  readonly onMisused: (socket: Socket) => void;
}

/** How often Node looks for connections that are past their deadline. */
const CHECK_MS = 1000;

export class Http1Connections {
  private readonly options: Http1Options;
  private readonly server: Server;
  /** By connection: requests that wait for the response to one before. */
  private readonly pipelined = new WeakMap<Socket, number>();
  /** Connections whose offer of an upgrade was declined, until that request is answered. */
  private readonly declined = new WeakSet<Socket>();
  /** Connections that are read in pieces. */
  private readonly pieced = new WeakSet<Socket>();

  constructor(options: Http1Options) {
    this.options = options;
    this.server = this.createServer();
  }

  serve(socket: Socket): void {
    this.server.emit('connection', socket);
  }

  /** Those that are idle are closed; others end with their response. */
  drain(): void {
    this.server.closeIdleConnections();
  }

  destroy(): void {
    // Stops the timer that looks for late connections.
    this.server.close();
  }

  private createServer(): Server {
    const { settings } = this.options;
    const server = createServer(
      {
        // One number for both: the request guard checks each by itself.
        maxHeaderSize: settings.headerBytes + settings.requestLineBytes,
        headersTimeout: settings.headerMs,
        requestTimeout: settings.requestMs,
        keepAliveTimeout: settings.keepAliveMs,
        connectionsCheckingInterval: CHECK_MS,
      },
      (request, response) => this.take(request, response),
    );
    server.on('clientError', respondToProtocolError);
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.options.onUpgrade(socket);
      if (request.headers.upgrade?.toLowerCase() === 'websocket')
        this.options.onWebSocket(request, socket, head);
      else this.declineUpgrade(request, socket, head);
    });
    // It starts the timer for late connections when it listens, and this one is handed its connections.
    server.emit('listening');
    return server;
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const { onArrived, onRequest } = this.options;
    const { socket } = request;
    onArrived(request, response);
    limitParts(request, () => this.endMisused(socket));
    if (request.headers['transfer-encoding'] !== undefined && !this.pieced.has(socket)) {
      this.pieced.add(socket);
      readInPieces(socket);
    }
    if (this.declined.has(socket)) response.once('close', () => this.declined.delete(socket));
    // Only a response whose turn has not come is without it.
    if (response.socket === null && !this.mayWait(socket, response)) request.destroy();
    else onRequest(request, response);
  }

  /** A connection that sends many requests before it reads a response is closed: all of them would be served in one turn. */
  private mayWait(socket: Socket, response: ServerResponse): boolean {
    const count = (this.pipelined.get(socket) ?? 0) + 1;
    if (count > this.options.settings.pipelined) {
      if (!socket.destroyed) closeWithoutStacks(socket);
      this.endMisused(socket);
      // The pieces that are not parsed yet never are; of the chunk that is being parsed, a request that is ended costs Node least.
      socket.pause();
      return false;
    }
    this.pipelined.set(socket, count);
    response.once('close', () => this.pipelined.set(socket, (this.pipelined.get(socket) ?? 1) - 1));
    return true;
  }

  /** Serves the request as if it had not offered an upgrade: clients in Java offer h2c with each, one after the other. */
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
    this.serve(socket);
  }

  private endMisused(socket: Socket): void {
    if (socket.destroyed) return;
    this.options.onMisused(socket);
    socket.destroy();
    stopParsing(socket);
  }
}

/** Node would make thousands of requests of what is left of the 64 KiB that it has just read. It has no public way to stop. */
function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: { onIncoming: unknown } | null };
  // As after an upgrade, what follows is not for the parser.
  if (parser) parser.onIncoming = () => 2;
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
