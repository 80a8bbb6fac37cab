/**
 * One port for HTTP/1.1 and HTTP/2: with TLS by ALPN, without it by the first bytes, for the original's drivers begin HTTP/2 with prior knowledge
 * on cleartext ports. Each connection is counted, and given a time to say what it wants.
 */
import { createServer as createHttp1, type IncomingMessage, type Server as Http1 } from 'node:http';
import {
  createServer as createHttp2,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { createServer as createNet, type AddressInfo, type Server, type Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import type { HubLimits } from '../settings/settings.ts';

export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = ServerResponse | Http2ServerResponse;
export type Listener = (request: AnyRequest, response: AnyResponse) => void;

export interface AcceptorOptions {
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined;
  readonly limits: HubLimits;
  readonly listener: Listener;
  /** Addresses that may open as many connections as there are: proxies. */
  readonly uncounted: readonly string[];
  /** A connection was closed unheard: there were too many. */
  readonly onCrowded: (address: string) => void;
}

/** HTTP/1.1 closes what is late only as often as it looks. */
const CHECK_MS = 1000;
const PREFACE = Buffer.from('PRI');

export class Acceptor {
  private readonly options: AcceptorOptions;
  readonly http1: Http1;
  private readonly http2: Http2Server;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly ofAddress = new Map<string, number>();
  private readonly sessions = new Set<ServerHttp2Session>();

  constructor(options: AcceptorOptions) {
    this.options = options;
    this.http1 = this.createHttp1();
    this.http2 = this.createHttp2();
    this.server = this.createServer();
    this.server.on('connection', (socket) => this.admit(socket));
  }

  get socketCount(): number {
    return this.sockets.size;
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

  /** Takes no new connection; those that are there end with what is under way on them. */
  drain(): void {
    this.server.close();
    this.http1.closeIdleConnections();
    for (const session of this.sessions) session.close();
  }

  /** Serves a request as if it had not offered to go over to another protocol, and what comes after it. */
  declineUpgrade({ method, url, rawHeaders }: IncomingMessage, socket: Socket, head: Buffer): void {
    const lines = [`${method} ${url} HTTP/1.1`];
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.toLowerCase() !== 'upgrade')
        lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
    this.http1.emit('connection', socket);
  }

  closeIdle(): void {
    this.http1.closeIdleConnections();
  }

  /** Ends every connection, whatever is under way. */
  destroy(): void {
    for (const socket of this.sockets) socket.destroy();
    // Ends its looking for late ones too.
    this.http1.close();
  }

  private createHttp1(): Http1 {
    const { limits, listener } = this.options;
    const server = createHttp1(
      {
        // One number for both: which of the two is too long is looked at when they are there.
        maxHeaderSize: limits.headerBytes + limits.requestLineBytes,
        headersTimeout: limits.headerMs,
        requestTimeout: limits.requestMs,
        keepAliveTimeout: limits.keepAliveMs,
        connectionsCheckingInterval: CHECK_MS,
      },
      listener,
    );
    server.on('clientError', answerFault);
    // It looks for connections that are late from when it listens, and this one is handed its connections.
    server.emit('listening');
    return server;
  }

  private createHttp2(): Http2Server {
    const { limits, listener } = this.options;
    const server = createHttp2({
      maxSessionMemory: 16,
      settings: {
        maxConcurrentStreams: limits.streamsPerSession,
        maxHeaderListSize: limits.headerBytes + limits.requestLineBytes,
        enablePush: false,
      },
    });
    server.on('request', listener);
    server.on('session', (session) => this.watchSession(session));
    server.on('sessionError', (_reason, session) => session.destroy());
    return server;
  }

  private createServer(): Server {
    const { tls, limits } = this.options;
    if (!tls) return createNet({ noDelay: true }, (socket) => this.sniff(socket));
    const server = createTls({
      ...tls,
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: limits.headerMs,
      noDelay: true,
    });
    server.on('secureConnection', (socket: TLSSocket) =>
      (socket.alpnProtocol === 'h2' ? this.http2 : this.http1).emit('connection', socket),
    );
    server.on('tlsClientError', (_reason, socket) => socket.destroy());
    return server;
  }

  private admit(socket: Socket): void {
    const { limits, uncounted, onCrowded } = this.options;
    const address = socket.remoteAddress ?? '';
    const count = this.ofAddress.get(address) ?? 0;
    const isCrowded = count >= limits.socketsPerAddress && !uncounted.includes(address);
    if (this.sockets.size >= limits.sockets || isCrowded) {
      onCrowded(address);
      socket.destroy();
      return;
    }
    this.sockets.add(socket);
    this.ofAddress.set(address, count + 1);
    socket.setKeepAlive(true, limits.slowReaderMs);
    socket.once('close', () => {
      this.sockets.delete(socket);
      const left = (this.ofAddress.get(address) ?? 1) - 1;
      if (left === 0) this.ofAddress.delete(address);
      else this.ofAddress.set(address, left);
    });
  }

  /** Three bytes tell: no method of HTTP/1.1 begins like the preface of HTTP/2. */
  private sniff(socket: Socket): void {
    if (socket.destroyed) return;
    const late = setTimeout(() => socket.destroy(), this.options.limits.headerMs);
    const ignore = (): void => undefined;
    let head = Buffer.alloc(0);
    const look = (): void => {
      const part = socket.read() as Buffer | null;
      if (part === null) return;
      head = Buffer.concat([head, part]);
      if (head.length < PREFACE.length && PREFACE.subarray(0, head.length).equals(head)) return;
      clearTimeout(late);
      socket.off('readable', look);
      socket.off('error', ignore);
      socket.unshift(head);
      const isHttp2 = head.subarray(0, PREFACE.length).equals(PREFACE);
      (isHttp2 ? this.http2 : this.http1).emit('connection', socket);
    };
    socket.on('error', ignore);
    socket.on('readable', look);
    socket.once('close', () => clearTimeout(late));
  }

  private watchSession(session: ServerHttp2Session): void {
    const { limits } = this.options;
    this.sessions.add(session);
    let open = 0;
    session.once('close', () => this.sessions.delete(session));
    session.on('error', () => session.destroy());
    session.setTimeout(limits.headerMs, () => {
      if (open === 0) session.destroy();
    });
    session.on('stream', (stream) => {
      open += 1;
      session.setTimeout(limits.sessionIdleMs);
      // A reset by the other side is no failure of ours.
      stream.on('error', () => undefined);
      stream.once('close', () => {
        open -= 1;
      });
    });
  }
}

/** Faults below the request: there is nobody to route them to. */
function answerFault(reason: Error & { readonly code?: string }, socket: Socket): void {
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
  const body = `{"errors":[{"code":"${code}","description":"The request could not be read."}]}`;
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json;charset=utf-8\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
