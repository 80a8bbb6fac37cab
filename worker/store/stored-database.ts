import { Refusal } from '../../src/errors.ts';
import type { OpenOptions } from '../../src/host/open.ts';
import type { Settings } from '../../src/host/settings.ts';
import type { Store } from '../../src/store/port.ts';
import type { Loss } from './birth-stamp.ts';
import type { MoveProgress } from './move/layout-lock.ts';

export const deletedElsewhere = (): string => 'The database was deleted in another tab.';

export const deleted = (): Refusal =>
  new Refusal(
    'storage_unavailable',
    `${deletedElsewhere()} Open it again to start with an empty one.`,
  );

/** `aliveLock` is the name of the lock that the worker holds as long as it lives; it identifies the worker. */
export interface StoreRequest extends Pick<OpenOptions, 'name' | 'aliveLock'> {
  readonly settings: Pick<Settings, 'store'>;
}

export interface StoreHandlers {
  /** The browser or another tab has closed or deleted the store. */
  readonly onClosed: (description: string) => void;
  /** See `Lease.term`. */
  readonly leaseTerm: () => number | undefined;
  /** The rows are being moved into blocks, here or in another tab. */
  readonly onMove?: (progress: MoveProgress) => void;
  /** Moving the rows into blocks failed. The database is used as rows. */
  readonly onMoveFailed?: (reason: unknown) => void;
}

/** The stored database with one name. */
export interface StoredDatabase {
  readonly store: Store;
  /** Random identifier of this database, generated when it was created. */
  readonly birth: string;
  /** Opening it created the database. */
  readonly isNew: boolean;
  /** What had been lost when the database was opened. Reported again at each open until `acknowledgeLoss()` is called. */
  readonly loss: Loss | undefined;
  acknowledgeLoss(): Promise<void>;
  /**
   * Repairs what workers that were killed with the browser may have damaged. @param ended workers that ended while the browser kept
   * running
   */
  afterEnds(ended: readonly string[]): Promise<void>;
  /** Does now what would make the next open slow, because there may be no time later. */
  maybeFlush(): Promise<void>;
  /** Returns one sentence for each damaged part of the layout. */
  verify(): Promise<readonly string[]>;
  /** Closes the store and deletes the database and everything that is stored for it elsewhere. */
  destroy(): Promise<void>;
}
