/** Virtual time: every wait is an event here, and events at the same time occur in random order. */
import { RandomSource } from '../../../engine/testing/random-source.ts';
import type { Signal } from '../../device/syncer/signal.ts';

export class Chance extends RandomSource {
  is(probability: number): boolean {
    return this.chance(probability);
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  isStopped: boolean;
}

export class Clockwork {
  /** ms since the simulation began. */
  now = 0;
  private readonly chance: Chance;
  /** A binary heap; the next event is first. */
  private readonly events: Event[] = [];

  constructor(chance: Chance) {
    this.chance = chance;
  }

  after(ms: number, run: () => void): () => void {
    const event = { at: this.now + ms, order: this.chance.next(), run, isStopped: false };
    this.add(event);
    return () => {
      event.isStopped = true;
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

  /** Runs the next event, and everything that follows from it without waiting. False if there are no events. */
  async step(): Promise<boolean> {
    let next = this.take();
    while (next?.isStopped) next = this.take();
    if (!next) return false;
    this.now = Math.max(this.now, next.at);
    next.run();
    await turn();
    return true;
  }

  private add(event: Event): void {
    const { events } = this;
    let at = events.push(event) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = events[above];
      if (!parent || !isSooner(event, parent)) break;
      events[at] = parent;
      at = above;
    }
    events[at] = event;
  }

  private take(): Event | undefined {
    const { events } = this;
    const first = events[0];
    const last = events.pop();
    if (!last || !first || events.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let child = events[below];
      const other = events[below + 1];
      if (child && other && isSooner(other, child)) {
        child = other;
        below += 1;
      }
      if (!child || !isSooner(child, last)) break;
      events[at] = child;
      at = below;
    }
    events[at] = last;
    return first;
  }
}

const isSooner = (a: Event, b: Event): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order);

/** Resolves when every promise that does not depend on an event has settled. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
