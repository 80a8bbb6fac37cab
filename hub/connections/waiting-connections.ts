/**
 * Connections that exceed the limit of their address and wait until another connection of the address ends. Nothing is read from
 * them. As many may wait as may be open.
 */
import type { Socket } from 'node:net';

export interface WaitingOptions {
  readonly perAddress: number;
  readonly waitMs: number;
  /** Called with a connection that has waited too long and was removed. */
  readonly onLate: (socket: Socket) => void;
}

export class WaitingConnections {
  private readonly options: WaitingOptions;
  /** The waiting connections of each address, oldest first. */
  private readonly waiting = new Map<string, Map<Socket, () => void>>();
  count = 0;

  constructor(options: WaitingOptions) {
    this.options = options;
  }

  /** The number of waiting connections of each address. */
  *counts(): Iterable<readonly [string, number]> {
    for (const [address, { size }] of this.waiting) yield [address, size];
  }

  has(address: string): boolean {
    return this.waiting.has(address);
  }

  /** @returns false if too many connections of the address wait already */
  add(socket: Socket, address: string): boolean {
    const ofAddress = this.waiting.get(address) ?? new Map<Socket, () => void>();
    if (ofAddress.size >= this.options.perAddress) return false;
    const late = setTimeout(() => {
      this.remove(socket, address);
      this.options.onLate(socket);
    }, this.options.waitMs);
    const leave = (): void => this.remove(socket, address);
    socket.once('close', leave);
    this.waiting.set(
      address,
      ofAddress.set(socket, () => {
        clearTimeout(late);
        socket.off('close', leave);
      }),
    );
    this.count += 1;
    return true;
  }

  /** Removes and returns the connection of this address that has waited longest. */
  next(address: string): Socket | undefined {
    const [socket] = this.waiting.get(address)?.keys() ?? [];
    if (socket) this.remove(socket, address);
    return socket;
  }

  /** Removes and returns a connection of any address. */
  any(): Socket | undefined {
    const [address] = this.waiting.keys();
    return address === undefined ? undefined : this.next(address);
  }

  private remove(socket: Socket, address: string): void {
    const ofAddress = this.waiting.get(address);
    const end = ofAddress?.get(socket);
    if (!ofAddress || !end) return;
    end();
    ofAddress.delete(socket);
    this.count -= 1;
    if (ofAddress.size === 0) this.waiting.delete(address);
  }
}
