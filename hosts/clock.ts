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
 * A clock that never goes back by less than a day: it runs at half speed until the other clock has caught up. It must not stand
 * still, because it measures the time limits of queries. It follows a larger step back, because it would otherwise be ahead until
 * the process ends.
 * @param passed µs, by a clock that is independent of the wall clock
 */
export function monotonicClock(clock: () => number, passed = elapsed): () => number {
  let last = -Infinity;
  let readAt = 0;
  return () => {
    const now = clock();
    const at = passed();
    if (now > last || last - now > WRONG_MICROS) last = now;
    else last += (at - readAt) / 2;
    readAt = at;
    return Math.floor(last);
  };
}
