/** Opens what a browser stores under a name: IndexedDB, by way of Dexie. */
import { HEAD, headOf } from '../../src/engine/transactions.ts';
import { destroyStore } from './browser-store.ts';
import { MadeWith } from './idb-connection.ts';
import { IndexedDbStore, type IndexedDbStoreOptions } from './indexed-db-store.ts';
import type { ConnectionOptions, StoreEnd } from './lasting-connection.ts';
import type { StoreKind } from './layouts.ts';
import { PackedDatabase, type PackedDatabaseOptions } from './packed/packed-database.ts';
import { renewLogAfterKill } from './renew-log.ts';
import {
  deletedElsewhere,
  type StoredDatabase,
  type StoreHandlers,
  type StoreRequest,
} from './stored-database.ts';
import { canTearLog, WriteMark } from './write-mark.ts';

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

/** Deletes a database that no store of this tab has open, and all that is kept outside it. */
export const destroyIndexedDbStore = (
  name: string,
  options: Pick<IndexedDbStoreOptions, 'marker' | 'openDeadlineMs'> = {},
): Promise<void> => destroyStore(name, options);

/** The database of an engine, in the layout in which it was made; the setting decides about a new one. */
export async function openStoredDatabase(
  { name, aliveLock, settings }: StoreRequest,
  { onClosed, aloneTerm }: StoreHandlers,
): Promise<StoredDatabase> {
  const mark = canTearLog(navigator.userAgent) ? new WriteMark(name, aliveLock) : undefined;
  const options: ConnectionOptions = {
    head: { address: HEAD, read: headOf },
    ...(mark && { mark }),
    onEnd: (end) => onClosed(ENDS[end]),
  };
  const open = (kind: StoreKind): Promise<IndexedDbStore | PackedDatabase> =>
    kind === 'packed'
      ? openPackedDatabase(name, { ...options, aloneTerm })
      : openIndexedDbStore(name, options);
  const store = await open(settings.store).catch((reason: unknown) => {
    if (reason instanceof MadeWith) return open(reason.kind);
    throw reason;
  });
  const packed = store instanceof PackedDatabase ? store : undefined;
  return {
    store,
    birth: store.birth,
    isNew: store.isNew,
    loss: store.loss,
    acknowledgeLoss: () => store.acknowledgeLoss(),
    afterEnds: async (ended) => {
      if (mark) await renewLogAfterKill(ended);
    },
    rest: async () => packed?.rest(),
    verify: async () => (await packed?.verify()) ?? [],
    destroy: () => store.destroy(),
  };
}

const ENDS = {
  'upgraded by another tab':
    'Another tab has a newer version of the app and is upgrading the database. Reload the page.',
  'deleted by another tab': deletedElsewhere(),
  lost: 'The browser deleted the stored data while the database was open. Nothing more is written. Reload the page.',
} satisfies Record<StoreEnd, string>;
