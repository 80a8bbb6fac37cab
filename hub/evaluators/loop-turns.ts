/**
 * In one turn of the event loop, queries are begun for a short time only: the others wait for the next, so that what is no query has
 * its turn too. Among those that wait, the credentials take turns.
 */
import { FairQueue } from './fair-queue.ts';

interface Waiting {
  readonly name: string;
  readonly begin: () => void;
}

/** The last one begun may take a turn of its own (`EvaluatorPool.turnMs`). */
const SHARE_MS = 10;

export class LoopTurns {
  private readonly clock: () => number;
  private readonly waiting = new FairQueue<Waiting>();
  private until: number | undefined = undefined;

  /** @param clock ms */
  constructor(clock: () => number = () => performance.now()) {
    this.clock = clock;
  }

  /** Undefined: it may begin now. @param name of the credential */
  enter(name: string): Promise<void> | undefined {
    if (this.waiting.isEmpty && this.hasTime()) return undefined;
    return new Promise((resolve) => {
      this.waiting.add(name, { name, begin: resolve });
      setImmediate(this.admitOne);
    });
  }

  /** What is admitted begins before the next of these is called. */
  private readonly admitOne = (): void => {
    if (!this.hasTime()) {
      setImmediate(this.admitOne);
      return;
    }
    const next = this.waiting.take(1);
    if (!next) return;
    this.waiting.end(next.name);
    next.begin();
  };

  private hasTime(): boolean {
    const now = this.clock();
    if (this.until !== undefined) return now < this.until;
    this.until = now + SHARE_MS;
    setImmediate(() => {
      this.until = undefined;
    });
    return true;
  }
}
