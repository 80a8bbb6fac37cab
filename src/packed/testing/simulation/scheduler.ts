/** Who goes on next, by a seed. Every call of a tab to the outside stops twice: before it is done, and before its answer arrives. */
import type { RandomSource } from '../../../engine/testing/random-source.ts';

export interface Actor {
  readonly name: string;
  state: 'running' | 'frozen' | 'dead';
}

interface Stop {
  readonly actor: Actor;
  readonly kind: string;
  readonly goOn: () => void;
}

export class Scheduler {
  private readonly random: RandomSource;
  private stops: Stop[] = [];

  constructor(random: RandomSource) {
    this.random = random;
  }

  /** Does it at some time, and answers at some later time. */
  async call<T>(actor: Actor, kind: string, body: () => T): Promise<T> {
    await this.stop(actor, `${kind} asked`);
    const outcome = attempt(body);
    await this.stop(actor, `${kind} done`);
    return outcome();
  }

  stop(actor: Actor, kind: string): Promise<void> {
    return new Promise((resolve) => {
      this.stops.push({ actor, kind, goOn: resolve });
    });
  }

  /** Where an actor is waiting. */
  kindsOf(actor: Actor): readonly string[] {
    return this.stops.filter((each) => each.actor === actor).map(({ kind }) => kind);
  }

  /** Lets one go on. Returns false when nobody can. */
  async step(): Promise<boolean> {
    this.stops = this.stops.filter(({ actor }) => actor.state !== 'dead');
    const ready = this.stops.filter(({ actor }) => actor.state === 'running');
    if (ready.length === 0) return false;
    const next = this.random.pick(ready);
    this.stops.splice(this.stops.indexOf(next), 1);
    next.goOn();
    await settled();
    return true;
  }
}

/** All that can go on without the scheduler has gone on. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function attempt<T>(body: () => T): () => T {
  try {
    const value = body();
    return () => value;
  } catch (reason) {
    return () => {
      throw reason;
    };
  }
}
