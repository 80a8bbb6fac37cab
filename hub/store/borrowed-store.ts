/** Opens the store of the hub in another thread of its process. */
import type { CommitNotice } from '../../src/engine/host.ts';
import type { Store } from '../../src/store/port.ts';
import { BorrowedDatabase } from '../sql/borrowed-database.ts';
import { withDiskRoom } from './disk-room.ts';
import { openHubStore, type StoreAccess } from './open-store.ts';
import { openTables } from './sql-tables.ts';

export interface BorrowedStore {
  readonly store: Store;
  /** Must be called for each commit as soon as it is durable. */
  announce(notice: CommitNotice): void;
  close(): Promise<void>;
}

const CONNECTIONS_MAX = 2;

/** @throws Refusal `storage_unavailable` */
export async function openBorrowedStore(access: StoreAccess): Promise<BorrowedStore> {
  if ('port' in access) {
    const database = new BorrowedDatabase(access.port);
    const store = await openTables(database, access.tenant);
    return {
      store: access.folder === undefined ? store : withDiskRoom(store, access.folder),
      announce: (notice) => database.announce(notice),
      async close() {
        await store.close();
        await database.close();
      },
    };
  }
  const opened = await openHubStore({ at: access, connectionsMax: CONNECTIONS_MAX });
  // Nothing to announce: the store notifies the other processes through the server.
  return { store: opened.store, announce: () => undefined, close: () => opened.close() };
}
