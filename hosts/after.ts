/** Calls `body` after so many ms, unless the process has nothing else to do and ends. Returns the way to cancel it. */
export function after(ms: number, body: () => void): () => void {
  const timer = setTimeout(body, ms);
  // Browsers have numbers for timers.
  (timer as { unref?: () => void }).unref?.();
  return () => clearTimeout(timer);
}
