/** Opens what a browser stores under a name: IndexedDB, by way of Dexie. */
import { HEAD, headOf } from '../../src/engine/transactions.ts';
import type { OpenOptions } from '../../src/host/open.ts';
import { destroyStore, type BrowserStore } from './browser-store.ts';
import { IndexedDbStore, type IndexedDbStoreOptions } from './indexed-db-store.ts';
import type { StoreEnd } from './lasting-connection.ts';
import { PackedDatabase, type PackedDatabaseOptions } from './packed/packed-database.ts';
import { renewLogAfterKill } from './renew-log.ts';
import { deletedElsewhere, type StoredDatabase } from './stored-database.ts';
import { canTearLog, WriteMark } from './write-mark.ts';

/** @throws Refusal `storage_blocked`, `storage_unavailable`, `quota_exceeded`, `local_data_loss` */
export async function openIndexedDbStore(
  name: string,
  options: IndexedDbStoreOptions,
): Promise<BrowserStore> {
  const store = new IndexedDbStore(name, options);
  await store.open();
  return store;
}

/** @throws Refusal `storage_blocked`, `storage_unavailable`, `quota_exceeded`, `local_data_loss` */
export async function openPackedDatabase(
  name: string,
  options: PackedDatabaseOptions,
): Promise<PackedDatabase> {
  const store = new PackedDatabase(name, options);
  await store.open();
  return store;
}

/** Deletes a database that no store of this tab has open, and all that is kept outside it. */
export const destroyIndexedDbStore = (
  name: string,
  options: Pick<IndexedDbStoreOptions, 'marker' | 'openDeadlineMs'> = {},
): Promise<void> => destroyStore(name, options);

/** The database of an engine. `onClosed`: the browser or another tab took it away. */
export async function openStoredDatabase(
  { name, aliveLock }: Pick<OpenOptions, 'name' | 'aliveLock'>,
  onClosed: (description: string) => void,
): Promise<StoredDatabase> {
  const mark = canTearLog(navigator.userAgent) ? new WriteMark(name, aliveLock) : undefined;
  const store = await openIndexedDbStore(name, {
    head: { address: HEAD, read: headOf },
    ...(mark && { mark }),
    onEnd: (end) => onClosed(ENDS[end]),
  });
  return {
    store,
    birth: store.birth,
    isNew: store.isNew,
    loss: store.loss,
    acknowledgeLoss: () => store.acknowledgeLoss(),
    afterEnds: async (ended) => {
      if (mark) await renewLogAfterKill(ended);
    },
    destroy: () => store.destroy(),
  };
}

const ENDS = {
  'upgraded by another tab':
    'Another tab has a newer version of the app and is upgrading the database. Reload the page.',
  'deleted by another tab': deletedElsewhere(),
  lost: 'The browser deleted the stored data while the database was open. Nothing more is written. Reload the page.',
} satisfies Record<StoreEnd, string>;
