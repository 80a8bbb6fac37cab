/**
 * Limits how many requests over HTTP/1.1 of one address are parsed in one turn of the event loop. Node parses all that has arrived on
 * all connections in the same turn: of a hundred connections with twenty requests each, this takes 50 ms.
 */
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { LoopTurns } from '../event-loop/loop-turns.ts';

/** They take about 2 ms. */
const REQUESTS_PER_TURN = 64;
/** How many paused connections are read again in one turn. */
const READ_ON = { ms: Infinity, count: 4 };

export class ReadingTurns {
  /** The open connections of each address. */
  private readonly open = new Map<string, Set<Socket>>();
  /** For each address, the requests that were parsed in this turn. */
  private readonly parsed = new Map<string, number>();
  private readonly paused = new Set<Socket>();
  private readonly turns = new LoopTurns({ alone: READ_ON, besideOthers: READ_ON });
  private isOver = false;

  /** Whether as many requests of this address were parsed in this turn as may be. */
  hasHadShare(address: string): boolean {
    return (this.parsed.get(address) ?? 0) >= REQUESTS_PER_TURN;
  }

  add(socket: Socket, address: string): void {
    const ofAddress = this.open.get(address) ?? new Set<Socket>();
    this.open.set(address, ofAddress.add(socket));
    socket.once('close', () => this.remove(socket, address));
  }

  /** Forgets a connection that has closed or is no longer an HTTP/1.1 connection. */
  remove(socket: Socket, address: string): void {
    const ofAddress = this.open.get(address);
    ofAddress?.delete(socket);
    if (ofAddress?.size === 0) this.open.delete(address);
  }

  /** Counts a request. The address's other connections wait for a later turn once it has had its share of this one. */
  requested(from: Socket, address: string): void {
    if (this.parsed.size === 0) void setImmediate().then(() => this.parsed.clear());
    const count = (this.parsed.get(address) ?? 0) + 1;
    this.parsed.set(address, count);
    if (count !== REQUESTS_PER_TURN) return;
    for (const socket of this.open.get(address) ?? [])
      if (socket !== from) void this.pause(socket, address);
  }

  /** Pauses no connection any more. Resolves when what had arrived on paused ones is parsed. */
  async end(): Promise<void> {
    this.isOver = true;
    for (const socket of this.paused) socket.resume();
    // The first callback may run before sockets are read again.
    await setImmediate();
    await setImmediate();
  }

  private async pause(socket: Socket, address: string): Promise<void> {
    if (this.isOver || socket.isPaused()) return;
    socket.pause();
    this.paused.add(socket);
    await setImmediate();
    await this.turns.enter(address, address, () => socket.destroyed);
    this.paused.delete(socket);
    if (!socket.destroyed) socket.resume();
  }
}
