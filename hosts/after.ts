/**
 * Calls `body` after `ms`. Does not keep the process alive.
 * @returns a function that cancels the call
 */
export function after(ms: number, body: () => void): () => void {
  const timer = setTimeout(body, ms);
  // In browsers timers are numbers, without `unref`.
  (timer as { unref?: () => void }).unref?.();
  return () => clearTimeout(timer);
}
