/**
 * Who may have rows on the move open: one tab that copies them, or any number that use them as they are. Tabs that wait for the
 * copy receive its progress; the page of one that receives nothing for long gives up.
 */
import { lockManager } from '../../tabs/web-locks.ts';

export interface LayoutLock {
  /** Runs it, unless another tab has the database open in that layout, or is moving it: resolves with `elsewhere` then. */
  exclusively<T>(body: () => Promise<T>): Promise<T | 'elsewhere'>;
  /** Resolves when no tab moves it, and none begins to until what is returned is called. */
  beside(): Promise<() => void>;
}

/** Undefined where there are no Web Locks: rows stay rows. */
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
  /** Rows that were copied. */
  readonly done: number;
  readonly isComplete: boolean;
}

const channelOf = (name: string): BroadcastChannel => new BroadcastChannel(`burrow:move:${name}`);

/** Runs it, and broadcasts how far it is. */
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

/** Runs it while messages of another tab, which may be moving the database, are received. */
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
