/** Connections beyond those that their address may have, until one of those ends: nothing of them is read, and as many may wait. */
import type { Socket } from 'node:net';

export interface WaitingOptions {
  readonly perAddress: number;
  readonly waitMs: number;
  /** It has waited too long, and does not wait any more. */
  readonly onLate: (socket: Socket) => void;
}

export class WaitingConnections {
  private readonly options: WaitingOptions;
  /** Of each address, the one that has waited longest is first. */
  private readonly waiting = new Map<string, Map<Socket, () => void>>();
  count = 0;

  constructor(options: WaitingOptions) {
    this.options = options;
  }

  /** How many wait of each address. */
  *counts(): Iterable<readonly [string, number]> {
    for (const [address, { size }] of this.waiting) yield [address, size];
  }

  has(address: string): boolean {
    return this.waiting.has(address);
  }

  /** @returns false: as many of its address wait already. */
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

  /** Takes the one of this address that has waited longest. */
  next(address: string): Socket | undefined {
    const [socket] = this.waiting.get(address)?.keys() ?? [];
    if (socket) this.remove(socket, address);
    return socket;
  }

  /** Takes one of any address. */
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
