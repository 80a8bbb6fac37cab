/** Virtual time: every wait is an event here, and events at the same time occur in random order. */
import { RandomSource } from '../../../engine/testing/random-source.ts';
import { firstIndex } from '../../../store/binary-search.ts';
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
}

export class Clockwork {
  /** ms since the simulation began. */
  now = 0;
  private readonly chance: Chance;
  /** The next event is first. */
  private readonly events: Event[] = [];

  constructor(chance: Chance) {
    this.chance = chance;
  }

  after(ms: number, run: () => void): () => void {
    const { events } = this;
    const event: Event = { at: this.now + ms, order: this.chance.next(), run };
    const before = firstIndex(events.length, (i) => isSooner(events[i] ?? event, event));
    events.splice(before, 0, event);
    return () => {
      const at = events.indexOf(event);
      if (at !== -1) events.splice(at, 1);
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
    const next = this.events.shift();
    if (!next) return false;
    this.now = Math.max(this.now, next.at);
    next.run();
    await turn();
    return true;
  }
}

const isSooner = (a: Event, b: Event): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order);

/** Resolves when every promise that does not depend on an event has settled. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
