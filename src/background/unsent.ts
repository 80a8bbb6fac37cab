import { DatabaseClosed, UsageError, type Database, type Sync } from '../index.ts';

/**
 * Reports the number of writes without a verdict, plus, with `files`, of files of confirmed writes that the hub does not have: now, and
 * whenever the number changes.
 * @returns a function that ends this
 * @throws UsageError
 */
export function watchUnsent(
  sync: Sync,
  files: Database['files'] | undefined,
  onCount: (count: number) => void,
): () => void {
  // A database has events too, but no `writes`.
  if (!(sync as Partial<Sync> | undefined)?.writes)
    throw new UsageError('Pass the sync of a database: what `db.sync()` gave.');
  const listening = new AbortController();
  const { signal } = listening;
  let writes = 0;
  let kept = 0;
  /** Number of events so far that reported the number of pending writes. */
  let events = 0;
  const look = async (): Promise<void> => {
    const before = events;
    const [pending, stored] = await Promise.all([
      sync.writes.list({ states: ['local', 'parked'] }),
      files?.list() ?? [],
    ]);
    // An event that arrived during the calls is newer than the list.
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
        // If the database is locked, the last count stays valid. If it was closed or deleted, it sends nothing any more.
        if (error instanceof DatabaseClosed && !signal.aborted) onCount(0);
      });
    }
    looking = undefined;
  };
  /** Looks again, once for all events that arrive during a look: thousands of writes may wait, and each has a verdict. */
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
