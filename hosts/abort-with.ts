/** By signal: what is aborted with it. One listener for all: Node takes more than ten on a signal for a leak, and says so. */
const followers = new WeakMap<AbortSignal, Set<AbortController>>();

/**
 * Aborts with the first of several signals. Abort it when it is no longer needed: until then, each of them keeps it. Not by
 * `AbortSignal.any`, which Safari 17.0 lacks.
 */
export function abortWith(...signals: readonly (AbortSignal | undefined)[]): AbortController {
  const first = new AbortController();
  for (const each of signals) {
    if (each?.aborted) first.abort();
    if (!each || first.signal.aborted) continue;
    const all = followersOf(each).add(first);
    first.signal.addEventListener('abort', () => all.delete(first));
  }
  return first;
}

function followersOf(signal: AbortSignal): Set<AbortController> {
  const known = followers.get(signal);
  if (known) return known;
  const made = new Set<AbortController>();
  followers.set(signal, made);
  signal.addEventListener('abort', () => {
    for (const each of made) each.abort();
  });
  return made;
}
