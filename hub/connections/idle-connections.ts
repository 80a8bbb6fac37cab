/** Connections over HTTP/1.1 that wait for a next request, by address: they are ended where a new one would have to wait. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection is idle for so long before it may be ended: a request may be on its way, whose client would not know what became of it. */
const ON_ITS_WAY_MS = 1000;

export class IdleConnections {
  /** Of each address, since when each waits: the one that has waited longest is first. */
  private readonly idle = new Map<string, Map<Socket, number>>();
  /** Requests of each connection that are not answered. */
  private readonly underWay = new WeakMap<Socket, number>();
  /** Of each address and connection, the response to its newest request. */
  private readonly newest = new Map<string, Map<Socket, ServerResponse>>();

  /** The connection is not idle until the response is closed. */
  track(socket: Socket, address: string, response: ServerResponse): void {
    if (!this.underWay.has(socket)) socket.once('close', () => this.remove(socket, address));
    this.remove(socket, address);
    this.underWay.set(socket, (this.underWay.get(socket) ?? 0) + 1);
    const ofAddress = this.newest.get(address) ?? new Map<Socket, ServerResponse>();
    this.newest.set(address, ofAddress.set(socket, response));
    response.once('close', () => {
      const left = (this.underWay.get(socket) ?? 1) - 1;
      this.underWay.set(socket, left);
      if (left === 0 && !socket.destroyed) this.add(socket, address);
    });
  }

  /** @returns false: no connection of the address has been idle for long enough. */
  endOldest(address: string, count = 1, forMs = ON_ITS_WAY_MS): boolean {
    const untilMs = performance.now() - forMs;
    const ended: Socket[] = [];
    for (const [socket, sinceMs] of this.idle.get(address) ?? []) {
      if (sinceMs > untilMs || ended.length === count) break;
      ended.push(socket);
    }
    for (const socket of ended) {
      this.remove(socket, address);
      socket.destroy();
    }
    return ended.length > 0;
  }

  /** Ends a connection of the address with its response, if one has not begun: its client is told, and sends nothing more on it. */
  endNext(address: string): void {
    for (const [socket, response] of this.newest.get(address) ?? []) {
      this.forget(socket, address);
      if (response.headersSent) continue;
      response.setHeader('connection', 'close');
      return;
    }
  }

  /** Also when the connection becomes a WebSocket. */
  remove(socket: Socket, address: string): void {
    const ofAddress = this.idle.get(address);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) this.idle.delete(address);
    this.forget(socket, address);
  }

  private forget(socket: Socket, address: string): void {
    const ofAddress = this.newest.get(address);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) this.newest.delete(address);
  }

  private add(socket: Socket, address: string): void {
    this.forget(socket, address);
    const ofAddress = this.idle.get(address) ?? new Map<Socket, number>();
    this.idle.set(address, ofAddress.set(socket, performance.now()));
  }
}
