/** The wall clock in whole microseconds that never goes back while the process lives. */
export function createClock(
  wallMs: () => number = Date.now,
  monotonicMs: () => number = () => performance.now(),
): () => number {
  const begunMs = wallMs() - monotonicMs();
  let offsetMs = begunMs;
  let last = 0;
  return () => {
    const fineMs = monotonicMs() + offsetMs;
    const driftMs = wallMs() - fineMs;
    // The clock was set, or the machine slept: it is followed, forwards at once and backwards by standing still.
    if (Math.abs(driftMs) > DRIFT_MS) offsetMs += driftMs;
    last = Math.max(last, Math.round((monotonicMs() + offsetMs) * 1000));
    return last;
  };
}

const DRIFT_MS = 50;
