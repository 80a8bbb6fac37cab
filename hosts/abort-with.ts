/**
 * The controllers that follow one signal. They share one listener, because Node prints a warning about a leak if a signal has
 * more than ten.
 */
interface Followers {
  readonly all: Set<AbortController>;
  readonly abortAll: () => void;
}

const followers = new WeakMap<AbortSignal, Followers>();

/**
 * Returns a controller that aborts when the first of the signals does. Abort the controller when it is no longer needed: until
 * then, each signal keeps it in memory. `AbortSignal.any` is not used because Safari 17.0 lacks it.
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
