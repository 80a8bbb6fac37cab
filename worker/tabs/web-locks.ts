/** Work that one tab does for all. Where there are no Web Locks it is done in each: the store keeps that correct. */
const manager = (): LockManager | undefined =>
  typeof navigator === 'undefined' ? undefined : navigator.locks;

/** Runs `body` when no other tab does; waits for its turn, until `signal`. */
export async function inTurn(
  name: string,
  body: () => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const locks = manager();
  await (locks ? locks.request(name, signal ? { signal } : {}, body) : body());
}

/** Runs `body`, or not at all while another tab does. */
export async function unlessElsewhere(name: string, body: () => Promise<void>): Promise<void> {
  const locks = manager();
  if (!locks) return body();
  await locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await body();
  });
}

/** Held as long as this worker lives. */
export function holdForLife(name: string): Promise<void> {
  const locks = manager();
  if (!locks) return Promise.resolve();
  return new Promise((resolve, reject) => {
    locks
      .request(name, () => {
        resolve();
        return new Promise<never>(() => undefined);
      })
      .catch(reject);
  });
}
