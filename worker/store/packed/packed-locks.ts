/** The lock of a packed store among tabs. It decides nothing, so a tab that is frozen while it has it loses it. */
import { lockManager } from '../../tabs/web-locks.ts';

/** How long another tab may keep this one from flushing and merging. */
const HOLDER_MS = 60_000;
const RETRY_MS = 1_000;
const RETRY_AFTER_FAILURE_MS = 10_000;

/** Flushes and merges are done by one tab at a time. */
export class MaintenanceLock {
  private readonly name: string;
  private notBefore = -Infinity;
  /** Since when it has always been another tab's. */
  private missedSince: number | undefined = undefined;

  constructor(name: string) {
    this.name = `burrow:maintenance:${name}`;
  }

  /** Runs it, or not at all while another tab is at it. */
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
    // When the lock was taken away amid it.
    await running;
  }
}
