/** Work that one tab does for all. Where Web Locks are not available, every tab does it, and the store keeps that correct. */

/**
 * The locks that all tabs and workers of this origin share. Undefined where Web Locks are not available. Node shares them among all
 * databases of the process, so a database that no other worker can open uses none (`JoinedTabs.locks`).
 */
export const lockManager = (): LockManager | undefined =>
  typeof navigator === 'undefined' ? undefined : navigator.locks;

/** Runs `body` under the lock. Waits for the lock until `signal` is aborted. */
export const inTurn = (
  locks: LockManager | undefined,
  name: string,
  body: () => Promise<void>,
  signal?: AbortSignal,
): Promise<void> => whileHeld(locks, name, signal ? { signal } : {}, body);

/** Runs `body` under the lock, or not at all while another tab holds it. */
export async function unlessElsewhere(
  locks: LockManager | undefined,
  name: string,
  body: () => Promise<void>,
): Promise<void> {
  if (!locks) return body();
  await locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await body();
  });
}

/**
 * Runs `body` under the lock. The signal passed to `body` is aborted when another tab has stolen the lock.
 * @param how with `steal`, the lock is taken from its holder, even from a frozen tab
 */
export async function whileHeld(
  locks: LockManager | undefined,
  name: string,
  how: LockOptions,
  body: (lost: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController();
  const run = (): Promise<void> => body(lost.signal);
  try {
    await (locks ? locks.request(name, how, run) : run());
  } finally {
    lost.abort();
  }
}

/** Takes a lock and holds it until `end` is aborted, or this worker ends. */
export async function holdUntil(
  end: AbortSignal | undefined,
  name: string,
  locks = lockManager(),
): Promise<void> {
  if (!locks) return;
  await new Promise<void>((held, failed) => {
    const ended = new Promise<void>((release) => end?.addEventListener('abort', () => release()));
    const hold = (): Promise<void> => {
      held();
      return ended;
    };
    locks.request(name, hold).catch(failed);
  });
}
