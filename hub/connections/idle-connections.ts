/** Idle HTTP/1.1 connections by address. They are closed when a new connection would otherwise have to wait. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * How long a connection must be idle before it may be closed. A request may be on its way, and its client would not know whether
 * it was executed.
 */
const ON_ITS_WAY_MS = 1000;

export class IdleConnections {
  /** For each address, its idle connections and since when (ms) they are idle, oldest first. */
  private readonly idle = new Map<string, Map<Socket, number>>();
  /** Unanswered requests of each connection. */
  private readonly underWay = new WeakMap<Socket, number>();
  /** For each address and connection, the response to the newest request. */
  private readonly newest = new Map<string, Map<Socket, ServerResponse>>();

  /** Records a request: its connection is not idle until the response is closed. */
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

  /**
   * Closes the connections of the address that have been idle longest.
   * @returns false if none has been idle long enough
   */
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

  /**
   * Makes one connection of the address close after its current response, if a response has not begun yet. The header tells the
   * client to send nothing more on it.
   */
  endNext(address: string): void {
    for (const [socket, response] of this.newest.get(address) ?? []) {
      this.forget(socket, address);
      if (response.headersSent) continue;
      response.setHeader('connection', 'close');
      return;
    }
  }

  /** Forgets a connection that has closed, is in use or has become a WebSocket. */
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
