/** Calls that wait until the hub has a file: each is repeated when it may have it. */
import type { Signal } from '../syncer/signal.ts';

/** A file that no message announces is found after so long: one of a document that is not in the copy, for example. */
export const RECHECK_MS = 300_000;

export interface FileWait<T> {
  readonly file: string;
  /** Raised from outside, it has the file asked for at once. */
  readonly woken: Signal;
  /** @param getOn called when a part of the file has come: failures before that count no more */
  readonly ask: (getOn: () => void) => Promise<T>;
  /** How long to wait unless it is woken, ms; undefined: waiting does not help. @param failures so many before, one after the other */
  readonly pauseAfter: (reason: unknown, failures: number) => number | undefined;
}

/** A call that waits. */
interface Waiting {
  readonly file: string;
  readonly woken: Signal;
  /** Why it is not to wait any longer. */
  failure?: Error;
}

export class FileWaiters {
  private readonly wait: (ms: number, signal: Signal) => Promise<void>;
  private readonly waiting = new Set<Waiting>();

  /** @param wait resolves after so many ms, or when the signal is raised */
  constructor(wait: (ms: number, signal: Signal) => Promise<void>) {
    this.wait = wait;
  }

  /** @param files that the hub may have now; undefined: any */
  wake(files?: readonly string[]): void {
    const named = files && new Set(files);
    for (const { file, woken } of this.waiting) if (!named || named.has(file)) woken.raise();
  }

  /** Rejects all that wait, and those that are asking if their answer is a failure. */
  fail(failure: Error): void {
    for (const each of this.waiting) each.failure = failure;
    this.wake();
  }

  /** @throws what waiting does not help against */
  async until<T>({ file, woken, ask, pauseAfter }: FileWait<T>): Promise<T> {
    const waiting: Waiting = { file, woken };
    // Before it is asked for: the file may come after the answer and before the wait.
    this.waiting.add(waiting);
    try {
      for (let failures = 0; ; failures++) {
        woken.lower();
        try {
          return await ask(() => (failures = 0));
        } catch (reason) {
          const ms = pauseAfter(reason, failures);
          if (ms === undefined) throw reason;
          await this.wait(ms, woken);
        }
        if (waiting.failure) throw waiting.failure;
      }
    } finally {
      this.waiting.delete(waiting);
    }
  }
}
