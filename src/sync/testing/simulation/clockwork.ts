/** Virtual time: whatever waits, waits here, and chance orders what happens at the same time. */
import type { Signal } from '../../device/signal.ts';

/** mulberry32: the same numbers for the same seed. */
export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  is(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('There is nothing to pick from.');
    return item;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class Clockwork {
  /** ms since the simulation began. */
  now = 0;
  private readonly chance: Chance;
  private events: Event[] = [];

  constructor(chance: Chance) {
    this.chance = chance;
  }

  after(ms: number, run: () => void): () => void {
    const event = { at: this.now + ms, order: this.chance.next(), run };
    this.events.push(event);
    return () => {
      this.events = this.events.filter((each) => each !== event);
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  wait(ms: number, signal: Signal): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.after(ms, () => resolve());
      signal.onRaised(() => {
        stop();
        resolve();
      });
    });
  }

  /** Runs what is due next, and all that follows from it without waiting. False when nothing waits. */
  async step(): Promise<boolean> {
    let next: Event | undefined;
    for (const event of this.events) {
      const isSooner =
        !next || event.at < next.at || (event.at === next.at && event.order < next.order);
      if (isSooner) next = event;
    }
    if (!next) return false;
    this.events = this.events.filter((event) => event !== next);
    this.now = Math.max(this.now, next.at);
    next.run();
    await turn();
    return true;
  }
}

/** Every promise that can settle by itself has settled. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
