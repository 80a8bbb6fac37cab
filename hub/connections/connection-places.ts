/** Decides which connections are admitted, wait or are refused, by their number in total and per address. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Peer } from '../admission/addresses.ts';
import { Counts } from '../admission/token-buckets.ts';
import type { HubSettings } from '../settings/settings.ts';
import { IdleConnections } from './idle-connections.ts';
import { LATE } from './response-texts.ts';
import { WaitingConnections } from './waiting-connections.ts';

export interface PlacesOptions {
  readonly settings: Pick<
    HubSettings,
    'sockets' | 'socketsPerAddress' | 'connectionWaitMs' | 'slowReaderMs'
  >;
  readonly peerOf: (socket: Socket) => Peer;
  readonly isBarred: (peer: Peer) => boolean;
  /** Called with each admitted connection. */
  readonly serve: (socket: Socket) => void;
  /** Called when a connection was closed unread because there are too many. */
  readonly onRefused: () => void;
  /** Whether connections use TLS. A connection that waited too long then gets no response, because there was no handshake. */
  readonly isSecure: boolean;
}

/** How long a connection that waited too long has to read its response. */
const FAREWELL_MS = 1000;
/** How often waiting connections may take the places of idle ones, and those of an address that was barred are served. */
const LOOK_MS = 100;

export class ConnectionPlaces {
  private readonly options: PlacesOptions;
  /** Sockets that are being served. */
  private readonly sockets = new Set<Socket>();
  /** Number of admitted connections by address. */
  private readonly connections = new Counts();
  private readonly idle = new IdleConnections();
  private readonly waiting: WaitingConnections;
  private looking: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(options: PlacesOptions) {
    this.options = options;
    const { socketsPerAddress: perAddress, connectionWaitMs: waitMs } = options.settings;
    const onLate = (socket: Socket): void => this.refuseLate(socket);
    this.waiting = new WaitingConnections({ perAddress, waitMs, onLate });
  }

  /** Includes connections that wait. */
  get count(): number {
    return this.sockets.size + this.waiting.count;
  }

  /** Handles a new connection. Nothing is read from it before it is admitted. */
  arrive(socket: Socket): void {
    const peer = this.options.peerOf(socket);
    const isBarred = this.options.isBarred(peer);
    if (!isBarred && this.makeRoom(peer)) this.admit(socket, peer);
    else if (this.wait(socket, peer)) {
      if (!isBarred) this.idle.endNext(peer.address);
      this.lookAgain();
    } else if (!isBarred && this.idle.endOldest(peer.address, 1, 0)) this.admit(socket, peer);
    else this.refuse(socket);
  }

  /** Records a request over HTTP/1.1. Its connection is idle again when the response is closed. */
  requested(socket: Socket, address: string, response: ServerResponse): void {
    this.idle.track(socket, address, response);
    if (this.waiting.has(address) && !this.options.isBarred(waitingAt(address)))
      this.idle.endNext(address);
  }

  /** The connection is no longer an HTTP/1.1 connection. */
  upgraded(socket: Socket, address: string): void {
    this.idle.remove(socket, address);
  }

  /** Closes the waiting connections. */
  drain(): void {
    for (let socket = this.waiting.any(); socket; socket = this.waiting.any())
      socket.resetAndDestroy();
  }

  destroy(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /**
   * Closes idle connections so that waiting ones get their places. Not at once, because a request may already have arrived on an
   * idle connection.
   */
  private lookAgain(): void {
    // setImmediate runs after sockets are read: if the process was idle, the event loop runs timers first, so arrived requests
    // would not be seen yet.
    this.looking ??= setTimeout(() => setImmediate(this.makeRoomForWaiting), LOOK_MS);
  }

  private readonly makeRoomForWaiting = (): void => {
    this.looking = undefined;
    for (const [address, count] of this.waiting.counts()) {
      const peer = waitingAt(address);
      // The connections that it already has may belong to others.
      if (this.options.isBarred(peer)) continue;
      this.idle.endOldest(address, count);
      this.admitNext(peer);
    }
    if (this.waiting.count > 0) this.lookAgain();
  };

  /** @returns false if there is no place for another connection of this peer */
  private makeRoom(peer: Peer): boolean {
    if (this.hasAll(peer)) return false;
    return (
      this.count < this.options.settings.sockets ||
      this.endWaiting() ||
      this.idle.endOldest(peer.address)
    );
  }

  private hasAll({ address, isTrusted }: Peer): boolean {
    return !isTrusted && this.connections.of(address) >= this.options.settings.socketsPerAddress;
  }

  /**
   * Connections may wait only while the total limit is not reached: their places are taken away as soon as another address needs
   * them.
   */
  private wait(socket: Socket, { address, isTrusted }: Peer): boolean {
    const isFull = this.count >= this.options.settings.sockets;
    return !isTrusted && !isFull && this.waiting.add(socket, address);
  }

  private endWaiting(): boolean {
    const socket = this.waiting.any();
    if (socket) this.refuse(socket);
    return socket !== undefined;
  }

  /**
   * Resets the connection. After a normal close, Node's HTTP/2 client reports no error, so its pending requests would never
   * settle.
   */
  private refuse(socket: Socket): void {
    this.options.onRefused();
    socket.on('error', () => undefined).resetAndDestroy();
  }

  /**
   * Sends a response to a connection that waited too long. Its data are read and discarded: closing a socket with unread data
   * sends a reset, and the client would not see the response.
   */
  private refuseLate(socket: Socket): void {
    if (this.options.isSecure) return this.refuse(socket);
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
    this.options.serve(socket);
  }

  private admitWaiting(peer: Peer): void {
    while (this.admitNext(peer));
  }

  /** @returns false if no connection of this peer waits, or none may be admitted */
  private admitNext(peer: Peer): boolean {
    if (this.options.isBarred(peer) || this.hasAll(peer)) return false;
    const socket = this.waiting.next(peer.address);
    if (socket) this.arrive(socket);
    return socket !== undefined;
  }

  private hold(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }
}

/** A peer of which a connection waits: those of trusted ones never do. */
const waitingAt = (address: string): Peer => ({ address, isTrusted: false });
