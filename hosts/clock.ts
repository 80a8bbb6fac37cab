/** Past this difference the wall clock was set, or the machine slept, and is followed. */
const DRIFT_MS = 50;

/** The wall clock in whole microseconds, as fine as the platform measures time. */
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

/** µs that this process has run, also where somebody sets the wall clock. */
export const elapsed = (): number => Math.round(performance.now() * 1000);

/** A clock that was so far ahead was wrong, and is right now. */
const WRONG_MICROS = 86_400_000_000;

/** The same clock, which stands still where it would go back: by less than a day, or that day would last until the process ends. */
export function monotonicClock(clock: () => number): () => number {
  let last = -Infinity;
  return () => {
    const now = clock();
    if (now > last || last - now > WRONG_MICROS) last = now;
    return last;
  };
}
