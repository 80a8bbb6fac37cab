/**
 * One transaction on one object store.
 * @returns when it is complete, the result of the request that the body returns; others may have been made besides
 */
export async function inOneTransaction<T>(
  idb: IDBDatabase,
  store: string,
  mode: IDBTransactionMode,
  body: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const transaction = idb.transaction(store, mode);
  const request = body(transaction.objectStore(store));
  await new Promise<unknown>((resolve, reject) => {
    transaction.addEventListener('complete', resolve);
    // WebKit says only on the request why.
    transaction.addEventListener('abort', () => reject(transaction.error ?? request.error));
  });
  return request.result;
}
