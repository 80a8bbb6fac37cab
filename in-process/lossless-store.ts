/** What a stored database says of losses where nothing takes data away but its owner: they are those of browsers. */
import type { StoredDatabase } from '../worker/store/stored-database.ts';

const done = (): Promise<void> => Promise.resolve();

export const LOSSLESS: Omit<StoredDatabase, 'store' | 'birth' | 'destroy'> = {
  // Nobody else deletes it between two workers.
  isNew: false,
  loss: undefined,
  acknowledgeLoss: done,
  afterEnds: done,
  maybeFlush: done,
  verify: () => Promise.resolve([]),
};
