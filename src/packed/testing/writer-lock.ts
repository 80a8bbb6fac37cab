/** Test kit: a lock as browsers have it, first come, first served. */
import type { WriterLock } from '../packed-store.ts';

interface Waiting {
  readonly isShared: boolean;
  readonly begin: () => void;
}

export function createWriterLock(): WriterLock {
  const queue: Waiting[] = [];
  const held = new Set<Waiting>();
  const serve = (): void => {
    for (let next = queue[0]; next; next = queue[0]) {
      const isFree = held.size === 0 || (next.isShared && [...held].every((each) => each.isShared));
      if (!isFree) return;
      queue.shift();
      held.add(next);
      next.begin();
    }
  };
  const locked = async <T>(isShared: boolean, body: () => Promise<T>): Promise<T> => {
    let own: Waiting | undefined;
    await new Promise<void>((begin) => {
      own = { isShared, begin };
      queue.push(own);
      serve();
    });
    try {
      return await body();
    } finally {
      if (own) held.delete(own);
      serve();
    }
  };
  return { shared: (body) => locked(true, body), exclusive: (body) => locked(false, body) };
}
