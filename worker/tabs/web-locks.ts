/** Work that one tab does for all. Without Web Locks each tab does it, which the store keeps correct. */

/** Undefined where there are none. */
export const lockManager = (): LockManager | undefined =>
  typeof navigator === 'undefined' ? undefined : navigator.locks;

/** Runs `body` under the lock; waits for the lock until `signal`. */
export const inTurn = (
  name: string,
  body: () => Promise<void>,
  signal?: AbortSignal,
): Promise<void> => whileHeld(name, signal ? { signal } : {}, body);

/** Runs `body` under the lock, or not at all while another tab holds it. */
export async function unlessElsewhere(name: string, body: () => Promise<void>): Promise<void> {
  const locks = lockManager();
  if (!locks) return body();
  await locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await body();
  });
}

/**
 * Runs `body` under the lock. Its signal is aborted when another tab has stolen the lock.
 * @param how `steal`: whoever has it loses it, also a tab that is frozen
 */
export async function whileHeld(
  name: string,
  how: LockOptions,
  body: (lost: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController();
  const run = (): Promise<void> => body(lost.signal);
  try {
    const locks = lockManager();
    await (locks ? locks.request(name, how, run) : run());
  } finally {
    lost.abort();
  }
}

/** Takes a lock that is held as long as this worker lives. @param ended its end, where it is no thread of its own */
export function holdForLife(name: string, ended?: AbortSignal): Promise<void> {
  const locks = lockManager();
  if (!locks) return Promise.resolve();
  return new Promise((resolve, reject) => {
    locks
      .request(name, () => {
        resolve();
        return new Promise<void>((end) => ended?.addEventListener('abort', () => end()));
      })
      .catch(reject);
  });
}
