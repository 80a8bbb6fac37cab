import type { Sync } from '../index.ts';

/**
 * Tells how many writes have no verdict: now, and whenever that changes.
 * @returns what ends it
 */
export function watchUnsent(sync: Sync, tell: (count: number) => void): () => void {
  const listening = new AbortController();
  const { signal } = listening;
  const look = async (): Promise<void> => {
    const writes = await sync.writes.list({ states: ['local', 'parked'] });
    if (!signal.aborted) tell(writes.length);
  };
  /** Locked or closed: what was told last holds. */
  const lookAgain = (): void => void look().catch(() => undefined);
  sync.addEventListener('progress', ({ detail }) => tell(detail.pending), { signal });
  sync.addEventListener('verdict', lookAgain, { signal });
  lookAgain();
  return () => listening.abort();
}
