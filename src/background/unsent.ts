import { DatabaseClosed, UsageError, type Database, type Sync } from '../index.ts';

/**
 * Reports how many writes have no verdict, and with `files` how many files of confirmed ones the hub does not have: now, and whenever that
 * changes.
 * @returns the function that ends it
 * @throws UsageError
 */
export function watchUnsent(
  sync: Sync,
  files: Database['files'] | undefined,
  onCount: (count: number) => void,
): () => void {
  // A database has events too.
  if (!(sync as Partial<Sync> | undefined)?.writes)
    throw new UsageError('Pass the sync of a database: what `db.sync()` gave.');
  const listening = new AbortController();
  const { signal } = listening;
  let writes = 0;
  let kept = 0;
  /** How often an event has said how many writes are pending. */
  let events = 0;
  const look = async (): Promise<void> => {
    const before = events;
    const [pending, stored] = await Promise.all([
      sync.writes.list({ states: ['local', 'parked'] }),
      files?.list() ?? [],
    ]);
    // An event that came meanwhile is newer than the list.
    if (events === before) writes = pending.length;
    kept = stored.filter(({ state }) => state === 'unsent').length;
    if (!signal.aborted) onCount(writes + kept);
  };
  let isDue = false;
  let looking: Promise<void> | undefined;
  const lookWhileDue = async (): Promise<void> => {
    while (isDue) {
      isDue = false;
      await look().catch((error: unknown) => {
        // Locked: the last count stays valid. Closed, or deleted: nothing is sent from here any more.
        if (error instanceof DatabaseClosed && !signal.aborted) onCount(0);
      });
    }
    looking = undefined;
  };
  /** Once for all that come meanwhile: thousands of writes may wait, and each has a verdict. */
  const lookAgain = (): void => {
    isDue = true;
    looking ??= lookWhileDue();
  };
  const onProgress = ({ detail }: { readonly detail: { readonly pending: number } }): void => {
    events += 1;
    writes = detail.pending;
    onCount(writes + kept);
  };
  sync.addEventListener('progress', onProgress, { signal });
  sync.addEventListener('verdict', lookAgain, { signal });
  sync.addEventListener('state', lookAgain, { signal });
  files?.addEventListener('progress', lookAgain, { signal });
  lookAgain();
  return () => listening.abort();
}
