/** Test kit: both stores of a browser, to run the same tests over both. */
import type { BrowserStore } from '../store/browser-store.ts';
import type { StoreKind } from '../store/layouts.ts';
import { openIndexedDbStore, openPackedDatabase } from '../store/open-layout.ts';
import type { IndexedDbStoreOptions } from '../store/indexed-db-store.ts';
import type { PackedDatabaseOptions } from '../store/packed/packed-database.ts';
import { storeOptions } from './store-kit.ts';

/** The options that both stores accept. */
export type StoreOptions = Partial<IndexedDbStoreOptions> & Partial<PackedDatabaseOptions>;

type OpenBrowserStore = (name: string, more?: StoreOptions) => Promise<BrowserStore>;

export const STORE_KINDS: readonly StoreKind[] = ['rows', 'packed'];

export const OPEN: Readonly<Record<StoreKind, OpenBrowserStore>> = {
  rows: (name, more) => openIndexedDbStore(name, storeOptions(more)),
  packed: (name, more) => openPackedDatabase(name, storeOptions(more)),
};
