/** Finds and opens the store of a database. */
import type { SalvageResult } from '../../src/host/salvage.ts';
import type { OpenOptions } from '../../src/host/open.ts';
import type { Store } from '../../src/store/port.ts';
import { readLock } from '../lock/lock.ts';
import type { StoredDatabase, StoreHandlers, StoreRequest } from '../store/stored-database.ts';
import type { Network } from '../browser/network.ts';
import { browserFiles, type FileStorage } from '../files/idb-files.ts';
import { forgetOutside } from '../sync/forget-outside.ts';
import { browserVault, type TokenVault } from '../sync/token-vault.ts';

/** What a host provides. Defaults are those of a browser's worker. */
export interface HostEnvironment {
  /** The time in µs. */
  readonly clock?: () => number;
  readonly network?: Network;
  readonly vault?: TokenVault;
  readonly files?: FileStorage;
  /** Starts a worker that hashes passwords. */
  readonly startHashing?: () => Worker;
  /** Aborted when the host ends. Only for hosts that are not a thread of their own: a terminated thread releases its locks itself. */
  readonly ended?: AbortSignal;
}

/** Where databases are stored. */
export interface DatabaseStorage extends HostEnvironment {
  /** Opens the store with this name, or creates it. */
  readonly openStore: (request: StoreRequest, handlers: StoreHandlers) => Promise<StoredDatabase>;
  /** Deletes the stored database with this name. No tab may have it open. */
  readonly destroyStore: (name: string) => Promise<void>;
  /** Copies everything readable in a damaged database into a store. Undefined for storage that cannot be partially damaged. */
  readonly salvage?: (from: string, into: Store) => Promise<SalvageResult>;
  /** Other workers can open the same database. */
  readonly isShared: boolean;
}

export interface FoundStore {
  readonly stored: StoredDatabase;
  /** The user has signed out: the engine serves only logins. */
  readonly isLocked: boolean;
}

/**
 * Opens the store. If an earlier deletion of the database was interrupted, completes it first.
 * @returns undefined when the page expects the database `birth`, and that was deleted
 */
export async function findStore(
  storage: DatabaseStorage,
  options: StoreRequest & Pick<OpenOptions, 'birth'>,
  handlers: StoreHandlers,
): Promise<FoundStore | undefined> {
  const { name, birth } = options;
  const stored = await storage.openStore(options, handlers);
  const state = await readLock(stored.store);
  const isWanted = birth === undefined || birth === stored.birth || stored.loss !== undefined;
  if (state === 'forgotten' || (!isWanted && stored.isNew))
    await destroyAll(name, storage, () => stored.destroy());
  else if (isWanted) return { stored, isLocked: state === 'locked' };
  else await stored.store.close();
  if (birth !== undefined) return undefined;
  return { stored: await storage.openStore(options, handlers), isLocked: false };
}

/**
 * Deletes a database and the data that sync stores beside it. The sync data is deleted first, while the `forgotten` mark in the store
 * still makes the next open complete an interrupted deletion. It is deleted again afterwards, because other tabs may have written it in
 * between.
 */
export async function destroyAll(
  name: string,
  { vault = browserVault, files = browserFiles }: HostEnvironment,
  destroyStore: () => Promise<void>,
): Promise<void> {
  try {
    await forgetOutside(name, { vault, files });
  } finally {
    await destroyStore();
  }
  await forgetOutside(name, { vault, files });
}
