/** Work that one tab does for all. Where Web Locks are not available, every tab does it, and the store keeps that correct. */
import { Refusal } from '../../src/errors.ts';

/**
 * The locks that all tabs and workers of this origin share. Undefined where Web Locks are not available. Node shares them among all
 * databases of the process, so a database that no other worker can open uses none (`JoinedTabs.locks`).
 */
export const lockManager = (): LockManager | undefined =>
  typeof navigator === 'undefined' ? undefined : navigator.locks;

/** Longer than the work under a lock of `inTurn` takes. A tab that is frozen during the work keeps the lock. */
const TURN_MS = 5000;

/**
 * Runs `body` under the lock. `late` is aborted when the turn, with the wait for it, has taken too long; `body` may throw its reason.
 * @throws Refusal `storage_blocked` when another holder does not release the lock
 */
export async function inTurn(
  locks: LockManager | undefined,
  name: string,
  body: (late: AbortSignal) => Promise<void>,
): Promise<void> {
  const late = AbortSignal.timeout(TURN_MS);
  try {
    await whileHeld(locks, name, { signal: late }, () => body(late));
  } catch (reason) {
    if (reason !== late.reason) throw reason;
    throw new Refusal(
      'storage_blocked',
      `Another tab, or a script of this page, holds the lock \`${name}\`. Close other tabs of this app, or try again.`,
    );
  }
}

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
