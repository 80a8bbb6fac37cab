/** Test kit: databases of IndexedDB past the stores. */
import { Watchdog } from '../store/watchdog.ts';
import { NativeTransaction } from '../store/native-transaction.ts';

/** As it is, whatever its version. @param upgrade of an older one */
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

/** One that writes to an object store, and that no connection watches. */
export const beginWrite = (idb: IDBDatabase, store: string): NativeTransaction =>
  new NativeTransaction(idb, {
    stores: [store],
    mode: 'readwrite',
    durability: 'relaxed',
    watchdog: new Watchdog(),
    onAnswer: () => undefined,
    onEnded: () => undefined,
  });
