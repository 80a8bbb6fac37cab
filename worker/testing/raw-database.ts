/** Test kit: accesses IndexedDB databases directly, bypassing the stores. */
import { Watchdog } from '../store/watchdog.ts';
import { NativeTransaction } from '../store/native-transaction.ts';

/** Opens a database in its present version, or in the given one. @param upgrade called for an older version */
export function rawOpen(
  name: string,
  version?: number,
  upgrade: (idb: IDBDatabase) => void = () => undefined,
): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version);
  return new Promise((resolve, reject) => {
    request.addEventListener('upgradeneeded', () => upgrade(request.result));
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () =>
      reject(new Error('no database', { cause: request.error })),
    );
  });
}

/** Begins a write transaction on an object store, outside any connection of a store. */
export const beginWrite = (idb: IDBDatabase, store: string): NativeTransaction =>
  new NativeTransaction(idb, {
    stores: [store],
    mode: 'readwrite',
    durability: 'relaxed',
    watchdog: new Watchdog(),
    onAnswer: () => undefined,
    onEnded: () => undefined,
  });
