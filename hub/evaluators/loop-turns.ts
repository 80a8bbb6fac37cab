/**
 * In one turn of the event loop, queries are begun for a short time only, and likewise requests: the others wait for the next, so that
 * whatever else there is has its turn too. Among those that wait, the databases take turns and in each its credentials, or the addresses.
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
  private readonly countMax: number;
  private readonly waiting = new FairQueue<Waiting>();
  private until: number | undefined = undefined;
  private begun = 0;

  /** @param clock ms @param countMax begun in one turn, for what takes its time only when all of them are begun */
  constructor(clock: () => number = () => performance.now(), countMax = Infinity) {
    this.clock = clock;
    this.countMax = countMax;
  }

  /** Whether it may begin now: otherwise `enter()` says when. */
  tryEnter(): boolean {
    return this.waiting.isEmpty && this.takeTurn();
  }

  /** Undefined: it may begin now. @param name of the credential, or of the address @param group of such, that have one share together */
  enter(name: string, group?: string): Promise<void> | undefined {
    if (this.tryEnter()) return undefined;
    return new Promise((resolve) => {
      this.waiting.add(name, { name, begin: resolve }, group);
      setImmediate(this.admitOne);
    });
  }

  /** What is admitted begins before the next of these is called. */
  private readonly admitOne = (): void => {
    if (!this.takeTurn()) {
      setImmediate(this.admitOne);
      return;
    }
    const next = this.waiting.take(1);
    if (!next) return;
    this.waiting.end(next.name);
    next.begin();
  };

  private takeTurn(): boolean {
    const now = this.clock();
    if (this.until === undefined) {
      this.until = now + SHARE_MS;
      this.begun = 0;
      setImmediate(this.endTurn);
    } else if (now >= this.until || this.begun >= this.countMax) return false;
    this.begun += 1;
    return true;
  }

  private readonly endTurn = (): void => {
    this.until = undefined;
  };
}
