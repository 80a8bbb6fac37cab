/**
 * Aborts with the first of several signals. Abort it when it is no longer needed: until then, each of them keeps a listener. Not by
 * `AbortSignal.any`, which Safari 17.0 lacks.
 */
export function abortWith(...signals: readonly (AbortSignal | undefined)[]): AbortController {
  const first = new AbortController();
  const { signal } = first;
  for (const each of signals) {
    if (each?.aborted) first.abort();
    each?.addEventListener('abort', () => first.abort(), { signal });
  }
  return first;
}
