/** How many connections there may be, in all and of each address: which are admitted, which wait, and which are refused. */
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
  /** One is admitted. */
  readonly serve: (socket: Socket) => void;
  /** One was closed before anything of it was read: there are too many. */
  readonly onRefused: () => void;
  /** Nothing can be said to whoever waited too long: there was no handshake. */
  readonly isSecure: boolean;
}

/** A connection that has waited too long has so long to read its answer. */
const FAREWELL_MS = 1000;
/** How often one that waits gets the place of one that is idle. */
const LOOK_MS = 100;

export class ConnectionPlaces {
  private readonly options: PlacesOptions;
  /** Those that are served. */
  private readonly sockets = new Set<Socket>();
  /** By address. */
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

  /** Those that wait are among them. */
  get count(): number {
    return this.sockets.size + this.waiting.count;
  }

  /** A new connection, of which nothing is read before it is admitted. */
  arrive(socket: Socket): void {
    const peer = this.options.peerOf(socket);
    if (this.options.isBarred(peer)) this.refuse(socket);
    else if (this.makeRoom(peer)) this.admit(socket, peer);
    else if (this.wait(socket, peer)) {
      this.idle.endNext(peer.address);
      this.lookForIdle();
    } else if (this.idle.endOldest(peer.address, 1, 0)) this.admit(socket, peer);
    else this.refuse(socket);
  }

  /** A request over HTTP/1.1: its connection is idle again when the response is closed. */
  requested(socket: Socket, address: string, response: ServerResponse): void {
    this.idle.track(socket, address, response);
    if (this.waiting.has(address)) this.idle.endNext(address);
  }

  /** The connection is one for HTTP/1.1 no more. */
  upgraded(socket: Socket, address: string): void {
    this.idle.remove(socket, address);
  }

  /** Ends those that wait. */
  drain(): void {
    for (let socket = this.waiting.any(); socket; socket = this.waiting.any())
      socket.resetAndDestroy();
  }

  destroy(): void {
    for (const socket of this.sockets) socket.destroy();
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

  /** @returns false: there is no place for another connection of this peer. */
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

  /** Those that wait have places that nobody else needs. */
  private wait(socket: Socket, { address, isTrusted }: Peer): boolean {
    const isFull = this.count >= this.options.settings.sockets;
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
}
