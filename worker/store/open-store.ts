/** Opens what a browser stores under a name: IndexedDB, by way of Dexie. */
import { HEAD, headOf } from '../../src/engine/transactions.ts';
import {
  destroyStore,
  IndexedDbStore,
  type BrowserStore,
  type IndexedDbStoreOptions,
  type StoreEnd,
} from './indexed-db-store.ts';
import { deletedElsewhere, type StoredDatabase } from './stored-database.ts';

/** @throws Refusal `storage_blocked`, `storage_unavailable`, `quota_exceeded`, `local_data_loss` */
export async function openIndexedDbStore(
  name: string,
  options: IndexedDbStoreOptions,
): Promise<BrowserStore> {
  const store = new IndexedDbStore(name, options);
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
  name: string,
  onClosed: (description: string) => void,
): Promise<StoredDatabase> {
  const store = await openIndexedDbStore(name, {
    head: { address: HEAD, read: headOf },
    onEnd: (end) => onClosed(ENDS[end]),
  });
  return {
    store,
    birth: store.birth,
    isNew: store.isNew,
    loss: store.loss,
    acknowledgeLoss: () => store.acknowledgeLoss(),
    destroy: () => store.destroy(),
  };
}

const ENDS = {
  'upgraded by another tab':
    'Another tab has a newer version of the app and is upgrading the database. Reload the page.',
  'deleted by another tab': deletedElsewhere(),
  lost: 'The browser deleted the stored data while the database was open. Nothing more is written. Reload the page.',
} satisfies Record<StoreEnd, string>;
