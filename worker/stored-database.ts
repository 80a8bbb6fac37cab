import type { Store } from '../src/store/port.ts';

/** What is stored under one name. */
export interface StoredDatabase {
  readonly store: Store;
  /** Deletes it all. The store is closed. */
  destroy(): Promise<void>;
}
