/** The transactions of one connection that have not ended. */
import { BLOCKED_BEATS, SILENT_BEATS, type Waiting, type Watchdog } from './watchdog.ts';
import { blockedByOthers, noResponse } from './idb-failure.ts';

export interface InFlightOptions {
  readonly isOneAtATime: boolean;
  readonly watchdog: Watchdog;
}

/**
 * In WebKit, transactions must run one at a time. WebKit does not always free a connection whose worker is terminated during a commit: it
 * later begins that connection's queued transactions, which nobody can end, and they block every page until the tab is closed. If there
 * is only one transaction at a time, none is queued. See docs/decisions/0010-ending-workers.md.
 */
export const needsOneAtATime = (userAgent: string): boolean =>
  userAgent.includes('AppleWebKit/') && !userAgent.includes('Chrome/');

interface Turn extends Waiting {
  begin(): void;
  refuse(reason: Error): void;
}

/** A write transaction: the browser lets it begin when the write transactions before it have ended. */
interface Writer {
  followed(isAtWork: boolean): void;
}

export class InFlight {
  private readonly options: InFlightOptions;
  private readonly writers = new Set<Writer>();
  private readonly waiting = new Set<Turn>();
  private count = 0;
  /** The running transaction that others wait for has received a response, so no other tab blocks it. */
  private hasAnswered = false;
  private onDrained: (() => void) | undefined = undefined;

  constructor(options: InFlightOptions) {
    this.options = options;
  }

  /**
   * Await this before a transaction begins. Undefined: it may begin now. Call `leave()` when the transaction has ended.
   * @throws Refusal `storage_blocked` when the running transaction gets no response; `storage_unavailable` when it got some, but no more
   * for a long time
   */
  enter(): Promise<void> | undefined {
    if (this.options.isOneAtATime && this.count > 0) return this.turn();
    this.count += 1;
    return undefined;
  }

  /** Registers a write transaction. Until it leaves, it waits for the other write transactions of this connection, or they wait for it. */
  write(writer: Writer): void {
    this.writers.add(writer);
  }

  /** A running transaction has made progress, so the timeouts of the transactions that wait for it start again. */
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

  /** Rejects the transactions that have not begun. */
  refuseWaiting(reason: () => Error): void {
    for (const turn of this.waiting) turn.refuse(reason());
  }

  /** Resolves when all transactions have ended, or after `ms`. */
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
          else if (turn.beats > SILENT_BEATS) turn.refuse(noResponse(false));
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
