/** The part of `StoredDatabase` about losses, for storage that only its owner deletes. Browsers can lose data; such storage cannot. */
import type { StoredDatabase } from '../worker/store/stored-database.ts';

const done = (): Promise<void> => Promise.resolve();

export const LOSSLESS: Omit<StoredDatabase, 'store' | 'birth' | 'destroy'> = {
  // `isNew` only serves to detect a deletion by another tab, which cannot happen here.
  isNew: false,
  loss: undefined,
  acknowledgeLoss: done,
  afterEnds: done,
  maybeFlush: done,
  verify: () => Promise.resolve([]),
};
