/** Past this difference the wall clock was set, or the device slept, and is followed. */
const DRIFT_MS = 50;

/** The wall clock in whole microseconds, as fine as the platform tells time. */
export function createClock(
  wall: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): () => number {
  let offset = wall() - monotonic();
  return () => {
    const fine = monotonic() + offset;
    const drift = wall() - fine;
    if (Math.abs(drift) > DRIFT_MS) offset += drift;
    return Math.round((Math.abs(drift) > DRIFT_MS ? fine + drift : fine) * 1000);
  };
}
