/** The store that a database is opened over. */
import type { SalvageResult } from '../../src/host/salvage.ts';
import type { OpenOptions } from '../../src/host/open.ts';
import type { Store } from '../../src/store/port.ts';
import { readLock } from '../lock/lock.ts';
import type { StoredDatabase, StoreHandlers, StoreRequest } from '../store/stored-database.ts';
import type { Network } from '../browser/network.ts';
import { browserFiles, type FileStorage } from '../files/idb-files.ts';
import { forgetOutside } from '../sync/forget-outside.ts';
import { browserVault, type TokenVault } from '../sync/token-vault.ts';

/** What a host has around it. Left out: what a worker of a browser finds. */
export interface Surroundings {
  /** The time, µs. */
  readonly clock?: () => number;
  readonly network?: Network;
  readonly vault?: TokenVault;
  readonly files?: FileStorage;
  /** Starts a worker that hashes passwords. */
  readonly startHashing?: () => Worker;
  /** Aborted when the host is to end, where it is no thread of its own. */
  readonly ended?: AbortSignal;
}

/** Where databases are stored. */
export interface DatabaseStorage extends Surroundings {
  /** Opens what is stored under a name. */
  readonly openStore: (request: StoreRequest, handlers: StoreHandlers) => Promise<StoredDatabase>;
  /** Deletes what is stored under a name, and is open in no tab. */
  readonly destroyStore: (name: string) => Promise<void>;
  /** Brings what can be read of a damaged database into a store; absent: there is no layout here that could be damaged in part. */
  readonly salvage?: (from: string, into: Store) => Promise<SalvageResult>;
  /** Other workers can open the same. */
  readonly isShared: boolean;
}

export interface FoundStore {
  readonly stored: StoredDatabase;
  /** Its user has signed out: its engine serves logins only. */
  readonly isLocked: boolean;
}

/**
 * Opens the store. Where its deletion was cut off, deletes it first.
 * @returns undefined when the page wants one database, `birth`, which was deleted meanwhile
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
 * Deletes a database and what sync keeps beside it. That goes first, while the mark of the deletion is still in the store and makes the
 * next open continue; and again afterwards, for tabs that wrote it meanwhile.
 */
export async function destroyAll(
  name: string,
  { vault = browserVault, files = browserFiles }: Surroundings,
  destroyStore: () => Promise<void>,
): Promise<void> {
  try {
    await forgetOutside(name, { vault, files });
  } finally {
    await destroyStore();
  }
  await forgetOutside(name, { vault, files });
}
