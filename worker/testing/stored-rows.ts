/**
 * Test kit: the contents of a database as text that can be kept in a file, and a database created from it, as an earlier version of the
 * app left it.
 */
import { decodeBase64, encodeBase64 } from '../../src/codec/base64.ts';

/** An object store: its declaration and its contents. */
interface KeptStore {
  readonly name: string;
  readonly keyPath: string;
  readonly autoIncrement: boolean;
  readonly indexes: readonly {
    readonly name: string;
    readonly keyPath: string;
    readonly multiEntry: boolean;
  }[];
  readonly rows: readonly object[];
}

export interface KeptDatabase {
  /** The version in IndexedDB. */
  readonly version: number;
  readonly stores: readonly KeptStore[];
}

/** Encodes bytes as text, because JSON has no bytes. */
export const keptText = (kept: unknown): string =>
  JSON.stringify(kept, (_, value: unknown) =>
    value instanceof Uint8Array ? { base64: encodeBase64(value) } : value,
  );

export const keptOf = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'base64' in value
      ? decodeBase64(String(value.base64))
      : value,
  );

export async function keepDatabase(name: string): Promise<KeptDatabase> {
  const idb = await answerOf(indexedDB.open(name));
  const names = [...idb.objectStoreNames];
  const tx = idb.transaction(names, 'readonly');
  const stores = await Promise.all(
    names.map(async (each): Promise<KeptStore> => {
      const store = tx.objectStore(each);
      const rows = (await answerOf(store.getAll())) as readonly object[];
      const indexes = [...store.indexNames].map((index) => {
        const { keyPath, multiEntry } = store.index(index);
        return { name: index, keyPath: String(keyPath), multiEntry };
      });
      const { autoIncrement, keyPath } = store;
      return { name: each, keyPath: String(keyPath), autoIncrement, indexes, rows };
    }),
  );
  const { version } = idb;
  idb.close();
  return { version, stores };
}

export async function makeDatabase(name: string, { version, stores }: KeptDatabase): Promise<void> {
  const opening = indexedDB.open(name, version);
  opening.addEventListener('upgradeneeded', () => {
    for (const { name: each, keyPath, autoIncrement, indexes, rows } of stores) {
      const store = opening.result.createObjectStore(each, { keyPath, autoIncrement });
      for (const index of indexes)
        store.createIndex(index.name, index.keyPath, { multiEntry: index.multiEntry });
      for (const row of rows) store.put(row);
    }
  });
  (await answerOf(opening)).close();
}

const answerOf = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
