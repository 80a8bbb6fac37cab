import type { Store } from '../../src/store/port.ts';
import type { Loss } from './birth-stamp.ts';

export const deletedElsewhere = (): string => 'The database was deleted in another tab.';

/** What is stored under one name. */
export interface StoredDatabase {
  readonly store: Store;
  /** Mark of this database, made with it. */
  readonly birth: string;
  /** It was made by being opened. */
  readonly isNew: boolean;
  /** What had been lost when it was opened, until that is acknowledged. */
  readonly loss: Loss | undefined;
  acknowledgeLoss(): Promise<void>;
  /** Repairs what workers may have left that were killed with the browser. @param ended the workers that were not */
  afterEnds(ended: readonly string[]): Promise<void>;
  /** Closes the store and deletes it all. */
  destroy(): Promise<void>;
}
