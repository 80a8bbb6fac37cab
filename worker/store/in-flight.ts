/** The transactions of one connection that have not ended. */
import { BLOCKED_BEATS, SILENT_BEATS, type Waiting, type Watchdog } from './watchdog.ts';
import { blockedByOthers, silent } from './idb-failure.ts';

export interface InFlightOptions {
  readonly isOneAtATime: boolean;
  readonly watchdog: Watchdog;
}

/**
 * WebKit does not always free a connection whose worker is ended amid a commit. What else that connection had asked for is begun
 * later all the same, with nobody left to end it, and blocks every page until the tab is closed. Of one transaction at a time there
 * is nothing left to begin. See docs/decisions/0010-ending-workers.md.
 */
export const needsOneAtATime = (userAgent: string): boolean =>
  userAgent.includes('AppleWebKit/') && !userAgent.includes('Chrome/');

interface Turn extends Waiting {
  begin(): void;
  refuse(reason: Error): void;
}

/** One that writes: the browser lets it begin when those that were there before have ended. */
interface Writer {
  followed(isAtWork: boolean): void;
}

export class InFlight {
  private readonly options: InFlightOptions;
  private readonly writers = new Set<Writer>();
  private readonly waiting = new Set<Turn>();
  private count = 0;
  /** The one that others wait for has: nobody blocks it. */
  private hasAnswered = false;
  private onDrained: (() => void) | undefined = undefined;

  constructor(options: InFlightOptions) {
    this.options = options;
  }

  /**
   * To be awaited before a transaction begins; undefined: it may begin now. `leave()` is called when it has ended.
   * @throws Refusal `storage_blocked` when nothing in flight answers, `storage_unavailable` when it did and then fell silent
   */
  enter(): Promise<void> | undefined {
    if (this.options.isOneAtATime && this.count > 0) return this.turn();
    this.count += 1;
    return undefined;
  }

  /** Until it leaves, others that write wait for it, or it for them. */
  write(writer: Writer): void {
    this.writers.add(writer);
  }

  /** One in flight has made progress: whoever waits for it begins to count anew. */
  answered(by?: Writer): void {
    this.hasAnswered = true;
    for (const turn of this.waiting) turn.beats = 0;
    if (by && this.writers.has(by)) this.notifyWriters(by, true);
  }

  leave(by?: Writer): void {
    if (by && this.writers.delete(by)) this.notifyWriters(by, false);
    if (this.hasAnswered) for (const turn of this.waiting) turn.beats = 0;
    this.hasAnswered = false;
    const [next] = this.waiting;
    if (next) {
      next.begin();
      return;
    }
    this.count -= 1;
    if (this.count === 0) this.onDrained?.();
  }

  /** Those whose turn has not come begin no more. */
  refuseWaiting(reason: () => Error): void {
    for (const turn of this.waiting) turn.refuse(reason());
  }

  /** Resolves when all have ended, or after `ms`. */
  drain(ms: number): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const late = setTimeout(resolve, ms);
      this.onDrained = () => {
        clearTimeout(late);
        resolve();
      };
    });
  }

  private notifyWriters(by: Writer, isAtWork: boolean): void {
    for (const each of this.writers) if (each !== by) each.followed(isAtWork);
  }

  private turn(): Promise<void> {
    const { watchdog } = this.options;
    return new Promise((resolve, reject) => {
      const goOn = (): void => {
        this.waiting.delete(turn);
        watchdog.delete(turn);
      };
      const turn: Turn = {
        beats: 0,
        beat: () => {
          if (!this.hasAnswered && turn.beats > BLOCKED_BEATS) turn.refuse(blockedByOthers());
          else if (turn.beats > SILENT_BEATS) turn.refuse(silent(false));
        },
        begin() {
          goOn();
          resolve();
        },
        refuse(reason) {
          goOn();
          reject(reason);
        },
      };
      this.waiting.add(turn);
      watchdog.add(turn);
    });
  }
}
