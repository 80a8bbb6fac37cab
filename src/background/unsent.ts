import type { Database, Sync } from '../index.ts';

/**
 * Tells how many writes have no verdict, and with `files` how many files of confirmed ones the hub does not have: now, and whenever that
 * changes.
 * @returns what ends it
 */
export function watchUnsent(
  sync: Sync,
  files: Database['files'] | undefined,
  tell: (count: number) => void,
): () => void {
  const listening = new AbortController();
  const { signal } = listening;
  let writes = 0;
  let kept = 0;
  /** How often it was heard how many writes are pending. */
  let heard = 0;
  const look = async (): Promise<void> => {
    const before = heard;
    const [pending, stored] = await Promise.all([
      sync.writes.list({ states: ['local', 'parked'] }),
      files?.list() ?? [],
    ]);
    // What was heard meanwhile is newer.
    if (heard === before) writes = pending.length;
    kept = stored.filter(({ state }) => state === 'unsent').length;
    if (!signal.aborted) tell(writes + kept);
  };
  /** Locked or closed: what was told last holds. */
  const lookAgain = (): void => void look().catch(() => undefined);
  const noteWrites = ({ detail }: { readonly detail: { readonly pending: number } }): void => {
    heard += 1;
    writes = detail.pending;
    tell(writes + kept);
  };
  sync.addEventListener('progress', noteWrites, { signal });
  sync.addEventListener('verdict', lookAgain, { signal });
  files?.addEventListener('progress', lookAgain, { signal });
  lookAgain();
  return () => listening.abort();
}
