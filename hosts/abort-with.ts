/** What is aborted with a signal. One listener for all: Node takes more than ten on a signal for a leak, and says so. */
interface Followers {
  readonly all: Set<AbortController>;
  readonly abortAll: () => void;
}

const followers = new WeakMap<AbortSignal, Followers>();

/**
 * Aborts with the first of several signals. Abort it when it is no longer needed: until then, each of them keeps it. Not by
 * `AbortSignal.any`, which Safari 17.0 lacks.
 */
export function abortWith(...signals: readonly (AbortSignal | undefined)[]): AbortController {
  const first = new AbortController();
  for (const each of signals) {
    if (each?.aborted) first.abort();
    if (each && !first.signal.aborted) follow(each, first);
  }
  return first;
}

function follow(signal: AbortSignal, follower: AbortController): void {
  const { all, abortAll } = followers.get(signal) ?? firstOf(signal);
  all.add(follower);
  follower.signal.addEventListener('abort', () => {
    all.delete(follower);
    if (all.size > 0) return;
    signal.removeEventListener('abort', abortAll);
    followers.delete(signal);
  });
}

function firstOf(signal: AbortSignal): Followers {
  const all = new Set<AbortController>();
  const abortAll = (): void => {
    for (const each of all) each.abort();
  };
  followers.set(signal, { all, abortAll });
  signal.addEventListener('abort', abortAll);
  return { all, abortAll };
}
