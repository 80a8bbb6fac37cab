/** A worker that is lost so soon after the one before it is not replaced until somebody calls it, ms. */
const CRASH_LOOP_MS = 10_000;

/** How long to wait before a worker that could not be started is tried again, the first time; twice as long each time after. */
const RETRY_MS = 1000;
const RETRY_MS_MAX = 32_000;

/** When a worker is started again without a call that needs it. */
export class Restarts {
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #replacedAt = -Infinity;

  /** Whether a lost worker may be replaced now. If so, the next one that is lost within ten seconds may not. */
  mayReplace(): boolean {
    const now = performance.now();
    if (now - this.#replacedAt < CRASH_LOOP_MS) return false;
    this.#replacedAt = now;
    return true;
  }

  /** Plans the next attempt after a failed one, in place of an attempt that was planned before. */
  retryLater(start: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(start, Math.min(RETRY_MS * 2 ** this.#failures, RETRY_MS_MAX));
    this.#failures++;
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
