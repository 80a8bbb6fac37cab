/**
 * Runs one transaction on one object store.
 * @returns the result of the request that `body` returns, once the transaction is complete. `body` may make other requests too
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
    // WebKit sets the reason only on the request.
    transaction.addEventListener('abort', () => reject(transaction.error ?? request.error));
  });
  return request.result;
}
