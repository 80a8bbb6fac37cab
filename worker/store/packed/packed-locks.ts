/** The lock under which one tab maintains a packed store. Correctness does not depend on it, so it can be stolen from a frozen tab. */
import { lockManager } from '../../tabs/web-locks.ts';

/** How long, in ms, another tab may keep this one from flushing and merging before the lock is stolen. */
const HOLDER_MS = 60_000;
const RETRY_MS = 1_000;
const RETRY_AFTER_FAILURE_MS = 10_000;

/** Ensures that one tab at a time flushes and merges. */
export class MaintenanceLock {
  private readonly name: string;
  private notBefore = -Infinity;
  /** Since when another tab has held the lock at every attempt. */
  private missedSince: number | undefined = undefined;

  constructor(name: string) {
    this.name = `burrow:maintenance:${name}`;
  }

  /** Runs `body`, or does nothing while another tab holds the lock. */
  async run(body: () => Promise<void>): Promise<void> {
    const now = performance.now();
    if (now < this.notBefore) return;
    let running: Promise<void> | undefined;
    const isLate = this.missedSince !== undefined && now - this.missedSince > HOLDER_MS;
    const take = (lock: Lock | null): Promise<void> | undefined => {
      if (lock) running = body();
      return running;
    };
    const locks = lockManager();
    try {
      await (locks
        ? locks.request(this.name, isLate ? { steal: true } : { ifAvailable: true }, take)
        : (running = body()));
    } catch (reason) {
      this.notBefore = performance.now() + RETRY_AFTER_FAILURE_MS;
      if (!running) throw reason;
    }
    if (running) this.missedSince = undefined;
    else {
      this.missedSince ??= now;
      this.notBefore = performance.now() + RETRY_MS;
    }
    // If the lock was stolen while `body` was running, the request has rejected, but `body` still runs.
    await running;
  }
}
