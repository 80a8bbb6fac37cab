/**
 * Decides by a seed which actor continues next. Each call of a tab to the outside stops twice: before it is executed,
 * and before its result arrives.
 */
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

  /** Executes the call at some later step, and returns its result at some step after that. */
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

  /** The stops at which an actor is waiting. */
  kindsOf(actor: Actor): readonly string[] {
    return this.stops.filter((each) => each.actor === actor).map(({ kind }) => kind);
  }

  /** Lets one actor continue. Returns false when none can. */
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

/** Resolves when everything that does not wait for the scheduler has run. */
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
