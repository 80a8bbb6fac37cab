/** Connections over HTTP/1.1 that wait for a next request, by address: they are ended where a new one would be refused. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class IdleConnections {
  /** Of each address, the one that has waited longest is first. */
  private readonly idle = new Map<string, Set<Socket>>();
  /** Requests of each connection that are not answered. */
  private readonly underWay = new WeakMap<Socket, number>();

  /** The connection is not idle until the response is closed. */
  track(socket: Socket, address: string, response: ServerResponse): void {
    if (!this.underWay.has(socket)) socket.once('close', () => this.remove(socket, address));
    this.remove(socket, address);
    this.underWay.set(socket, (this.underWay.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (this.underWay.get(socket) ?? 1) - 1;
      this.underWay.set(socket, left);
      if (left === 0 && !socket.destroyed) this.add(socket, address);
    });
  }

  /** @returns false: no connection of the address is idle. */
  endOldest(address: string): boolean {
    const [oldest] = this.idle.get(address) ?? [];
    if (!oldest) return false;
    this.remove(oldest, address);
    oldest.destroy();
    return true;
  }

  /** Also when the connection becomes a WebSocket. */
  remove(socket: Socket, address: string): void {
    const ofAddress = this.idle.get(address);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) this.idle.delete(address);
  }

  private add(socket: Socket, address: string): void {
    const ofAddress = this.idle.get(address) ?? new Set();
    this.idle.set(address, ofAddress.add(socket));
  }
}
