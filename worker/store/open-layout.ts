/** Opens a store in one layout. Refuses a database of another layout. */
import { IndexedDbStore, type IndexedDbStoreOptions } from './indexed-db-store.ts';
import { PackedDatabase, type PackedDatabaseOptions } from './packed/packed-database.ts';

/** @throws Refusal `storage_blocked`, `storage_unavailable`, `quota_exceeded`, `local_data_loss` */
export async function openIndexedDbStore(
  name: string,
  options: IndexedDbStoreOptions,
): Promise<IndexedDbStore> {
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
