/**
 * The lock of a database in `MOVING_LAYOUT`: held by the one tab that copies its rows, or shared by any number of tabs that use them as
 * rows. Tabs that wait for the copy receive its progress; a page that receives nothing for long gives up.
 */
import { lockManager } from '../../tabs/web-locks.ts';

export interface LayoutLock {
  /** Runs `body`, unless another tab has the database open in that layout or is moving it: then resolves with `elsewhere`. */
  exclusively<T>(body: () => Promise<T>): Promise<T | 'elsewhere'>;
  /** Resolves when no tab is moving the database, and prevents a move until the returned function is called. */
  beside(): Promise<() => void>;
}

/** Undefined where Web Locks are not available: databases of rows are not moved there. */
export function layoutLock(name: string): LayoutLock | undefined {
  const locks = lockManager();
  if (!locks) return undefined;
  const lock = `burrow:layout:${name}`;
  return {
    exclusively: async (body) =>
      locks.request(lock, { ifAvailable: true }, async (held) => (held ? body() : 'elsewhere')),
    beside: () =>
      new Promise((resolve, reject) => {
        const hold = (): Promise<void> =>
          new Promise((release) => {
            resolve(release);
          });
        locks.request(lock, { mode: 'shared' }, hold).catch(reject);
      }),
  };
}

export interface MoveProgress {
  /** Number of rows copied. */
  readonly done: number;
  readonly isComplete: boolean;
}

const channelOf = (name: string): BroadcastChannel => new BroadcastChannel(`burrow:move:${name}`);

/** Runs `body`, which can broadcast its progress to the other tabs. */
export async function announcing<T>(
  name: string,
  body: (emit: (progress: MoveProgress) => void) => Promise<T>,
): Promise<T> {
  const channel = channelOf(name);
  try {
    return await body((progress) => channel.postMessage(progress));
  } finally {
    channel.close();
  }
}

/** Runs `body` while receiving the progress of another tab that may be moving the database. */
export async function whileListening<T>(
  name: string,
  onProgress: (progress: MoveProgress) => void,
  body: () => Promise<T>,
): Promise<T> {
  const channel = channelOf(name);
  channel.addEventListener('message', ({ data }: MessageEvent<MoveProgress>) => onProgress(data));
  try {
    return await body();
  } finally {
    channel.close();
  }
}
