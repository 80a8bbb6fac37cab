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

/** `aliveLock` names the worker. */
export interface StoreRequest extends Pick<OpenOptions, 'name' | 'aliveLock'> {
  readonly settings: Pick<Settings, 'store'>;
}

export interface StoreHandlers {
  /** The browser or another tab took it away. */
  readonly onClosed: (description: string) => void;
  /** See `Lease.term`. */
  readonly leaseTerm: () => number | undefined;
  /** Its rows are being moved into blocks, here or in another tab. */
  readonly onMove?: (progress: MoveProgress) => void;
  /** What kept them from it; they are used as they are. */
  readonly onMoveFailed?: (reason: unknown) => void;
}

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
  /** There may be no time later: what would make the next open slow is done now. */
  maybeFlush(): Promise<void>;
  /** A sentence for each thing in the layout that is damaged. */
  verify(): Promise<readonly string[]>;
  /** Closes the store and deletes it all. */
  destroy(): Promise<void>;
}
