/** Reads and changes the log of a packed database that no tab has open. */
import type { Page } from '@playwright/test';
import { partsOfCommit, rowVersions, type RowVersion } from '../../src/packed/testing/by-hand.ts';

/** Number and bytes of each record in the log. */
const logIn = (page: Page, name: string) =>
  page.evaluate(async (name) => {
    const settled = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(request.error ?? new Error('failed')));
      });
    const idb = await settled(indexedDB.open(name));
    const store = idb.transaction('commits').objectStore('commits');
    // The key 0 is that of the stamp.
    const range = IDBKeyRange.lowerBound(1);
    const numbers = await settled(store.getAllKeys(range));
    const values = (await settled(store.getAll(range))) as { readonly v: Uint8Array }[];
    idb.close();
    return values.map(({ v }, at) => ({ number: Number(numbers[at]), bytes: [...v] }));
  }, name);

/** The newest row of `meta` with the time of the last commit, if it is still in the log. */
export async function headIn(page: Page, name: string): Promise<RowVersion> {
  const log = await logIn(page, name);
  const parts = log.map(({ number, bytes }) => ({ number, bytes: Uint8Array.from(bytes) }));
  const heads = (await rowVersions(parts, [])).filter(
    ({ space, row }) => space === 'meta' && String(row.value).includes('"ts":'),
  );
  const head = heads.at(-1);
  if (!head) throw new Error('The log has no head.');
  return head;
}

/** Appends a commit that seems to come from the tab that committed last. */
export const addCommit = (page: Page, name: string, put: RowVersion): Promise<void> =>
  page.evaluate(
    ({ name, parts }) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open(name);
        opening.addEventListener('success', () => {
          const { result: idb } = opening;
          const tx = idb.transaction('commits', 'readwrite');
          const commits = tx.objectStore('commits');
          const last = commits.openCursor(null, 'prev');
          last.addEventListener('success', () => {
            const found = last.result?.value as { readonly c: string } | undefined;
            if (!found) return tx.abort();
            for (const part of parts) commits.add({ v: Uint8Array.from(part), c: found.c });
          });
          tx.addEventListener('complete', () => {
            idb.close();
            resolve();
          });
          tx.addEventListener('abort', () => reject(tx.error ?? new Error('aborted')));
        });
      }),
    {
      name,
      parts: partsOfCommit(put).map((part) => [...part]),
    },
  );
