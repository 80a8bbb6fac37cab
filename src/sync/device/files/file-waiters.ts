/** Calls that wait until the hub has a file. Each is repeated when the hub may have received the file. */
import type { Signal } from '../syncer/signal.ts';

/** A file is requested again after this time even if no message announces it, for example because its document is not in the copy. */
export const RECHECK_MS = 300_000;

export interface FileWait<T> {
  readonly file: string;
  /** Raised from outside to request the file again at once. */
  readonly woken: Signal;
  /** @param getOn called when a part of the file has come: it resets the number of failures */
  readonly ask: (getOn: () => void) => Promise<T>;
  /** Maximum time until the next try, ms. Undefined: waiting does not help. @param failures number of consecutive failures before */
  readonly pauseAfter: (reason: unknown, failures: number) => number | undefined;
}

/** A call that is waiting. */
interface Waiting {
  readonly file: string;
  readonly woken: Signal;
  /** Why it must stop waiting. */
  failure?: Error;
}

export class FileWaiters {
  private readonly wait: (ms: number, signal: Signal) => Promise<void>;
  private readonly waiting = new Set<Waiting>();

  /** @param wait resolves after this many ms, or when the signal is raised */
  constructor(wait: (ms: number, signal: Signal) => Promise<void>) {
    this.wait = wait;
  }

  /** Wakes waiting calls. @param files that the hub may have now; undefined: any file */
  wake(files?: readonly string[]): void {
    const named = files && new Set(files);
    for (const { file, woken } of this.waiting) if (!named || named.has(file)) woken.raise();
  }

  /** Rejects all waiting calls. Calls whose request is running are rejected if that request fails. */
  fail(failure: Error): void {
    for (const each of this.waiting) each.failure = failure;
    this.wake();
  }

  /** Repeats `ask` until it succeeds. @throws errors for which waiting does not help */
  async until<T>({ file, woken, ask, pauseAfter }: FileWait<T>): Promise<T> {
    const waiting: Waiting = { file, woken };
    // Registered before the request: the file may arrive at the hub between its answer and the wait.
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
