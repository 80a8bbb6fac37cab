/** A larger difference means that the wall clock was set or the machine slept: the clock then follows the wall clock. */
const DRIFT_MS = 50;

/** The wall clock in whole microseconds, with the resolution of the platform's monotonic clock. */
export function createClock(
  wallMs: () => number = Date.now,
  monotonicMs: () => number = () => performance.now(),
): () => number {
  let offsetMs = wallMs() - monotonicMs();
  return () => {
    const nowMs = monotonicMs();
    const driftMs = wallMs() - nowMs - offsetMs;
    if (Math.abs(driftMs) > DRIFT_MS) offsetMs += driftMs;
    return Math.round((nowMs + offsetMs) * 1000);
  };
}

/** µs since this process started, independent of changes of the wall clock. */
export const elapsed = (): number => Math.round(performance.now() * 1000);

/** A clock that goes back by more than this was wrong before and is correct now. */
const WRONG_MICROS = 86_400_000_000;

/**
 * A clock that never goes back by less than a day: it stands still instead. It follows a larger step back, because it would
 * otherwise stand still until the process ends.
 */
export function monotonicClock(clock: () => number): () => number {
  let last = -Infinity;
  return () => {
    const now = clock();
    if (now > last || last - now > WRONG_MICROS) last = now;
    return last;
  };
}
