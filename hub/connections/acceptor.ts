/**
 * One port for HTTP/1.1, HTTP/2 and WebSockets. The protocol is detected by ALPN over TLS, otherwise by the first bytes, because
 * Fauna's drivers speak HTTP/2 with prior knowledge on cleartext ports. Connections are counted and must begin their first
 * request within a deadline. States, order and tests: README.md.
 */
import type { IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTls, type TLSSocket } from 'node:tls';
import { peerOf } from '../admission/addresses.ts';
import type { HubSettings } from '../settings/settings.ts';
import type { AnyRequest, AnyResponse } from './any-request.ts';
import { ConnectionPlaces } from './connection-places.ts';
import { Http1Connections } from './http1-connections.ts';
import { Http2Sessions } from './http2-sessions.ts';
import { Misuse } from './misuse.ts';
import { HEAD_BYTES, unshiftInPieces } from './small-parts.ts';

/** Certificate chain and private key, in PEM format. */
export interface TlsFiles {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

export interface AcceptorOptions {
  readonly tls: TlsFiles | undefined;
  readonly settings: HubSettings;
  readonly onRequest: (request: AnyRequest, response: AnyResponse) => void;
  readonly onWebSocket: (request: IncomingMessage, socket: Socket, head: Buffer) => void;
  /** Called when a connection was closed unread because there are too many. */
  readonly onRefused: () => void;
}

const PREFACE = Buffer.from('PRI');

export class Acceptor {
  private readonly options: AcceptorOptions;
  private readonly server: Server;
  private readonly places: ConnectionPlaces;
  private readonly http1: Http1Connections;
  private readonly http2: Http2Sessions;
  private readonly longHeads: (() => void)[] = [];

  constructor(options: AcceptorOptions) {
    this.options = options;
    const { settings, tls, onRequest, onWebSocket, onRefused } = options;
    const peer = (socket: Pick<Socket, 'remoteAddress'>) => peerOf(socket, settings.trustedProxies);
    const misuse = new Misuse();
    this.places = new ConnectionPlaces({
      settings,
      peerOf: peer,
      isBarred: (of) => misuse.isBarred(of),
      serve: tls ? this.tlsOver(tls) : (socket) => this.detectProtocol(socket),
      onRefused,
      isSecure: tls !== undefined,
    });
    this.http1 = new Http1Connections({
      settings,
      peerOf: peer,
      onArrived: (socket, address, response) => this.places.requested(socket, address, response),
      onRequest,
      onUpgrade: (socket) => this.places.upgraded(socket, peer(socket).address),
      onWebSocket,
      onMisused: (socket) => misuse.count(peer(socket)),
    });
    this.http2 = new Http2Sessions({
      settings,
      peerOf: peer,
      onRequest,
      onMisused: (of) => misuse.count(of),
    });
    // Paused, so that nothing is read from a connection before it is admitted.
    this.server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) =>
      this.places.arrive(socket),
    );
  }

  /** Includes connections that wait for a place. */
  get socketCount(): number {
    return this.places.count;
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

  /** Resolves when the requests that have arrived are parsed: the stop begins with it, and they are answered. */
  readAll(): Promise<void> {
    return this.http1.readAll();
  }

  /** Stops accepting connections. Open ones are closed when their requests in progress have ended. */
  drain(): void {
    this.server.close();
    this.places.drain();
    this.http1.drain();
    this.http2.drain();
  }

  /** Resolves when all responses over HTTP/2 have been written, at the latest after `ms`. */
  ended(ms: number): Promise<void> {
    return this.http2.ended(ms);
  }

  /**
   * Closes every connection, whatever is in progress. HTTP/2 sessions are ended with an error first, before their sockets are
   * destroyed.
   */
  async destroy(): Promise<void> {
    await this.http2.destroy();
    this.places.destroy();
    this.http1.destroy();
  }

  /** @returns a function that starts the TLS handshake on a connection */
  private tlsOver(files: TlsFiles): (socket: Socket) => void {
    const server = createTls({
      ...files,
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: this.options.settings.headerMs,
    });
    server.on('secureConnection', (socket: TLSSocket) =>
      (socket.alpnProtocol === 'h2' ? this.http2 : this.http1).serve(socket),
    );
    server.on('tlsClientError', (_reason, socket) => socket.destroy());
    return (socket) => void server.emit('connection', socket);
  }

  /** Three bytes are enough: no method of HTTP/1.1 begins like the preface of HTTP/2. */
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
        if (socket.destroyed) return;
        if (isHttp2) this.http2.serve(socket, head);
        else this.http1.serve(socket);
      };
      if (head.length > HEAD_BYTES || this.http1.mustWait(socket)) this.inTurn(handOver);
      else handOver();
    };
    socket.on('error', ignore);
    socket.on('readable', onReadable);
    socket.once('close', () => clearTimeout(late));
  }

  /** Runs one handover per turn of the event loop. */
  private inTurn(handOver: () => void): void {
    this.longHeads.push(handOver);
    if (this.longHeads.length === 1) setImmediate(this.handOverNext);
  }

  private readonly handOverNext = (): void => {
    this.longHeads[0]?.();
    this.longHeads.shift();
    if (this.longHeads.length > 0) setImmediate(this.handOverNext);
  };
}
