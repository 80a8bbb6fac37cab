import { expect, test } from 'vitest';
import { beginWrite, rawOpen } from '../testing/raw-database.ts';
import { freshName } from '../testing/store-kit.ts';

test('commitAtOnce() stores nothing when its only write request fails', async () => {
  const name = freshName();
  const idb = await rawOpen(name, 1, (created) => {
    for (const store of ['rows', 'files']) created.createObjectStore(store, { keyPath: 'k' });
  });
  const add = (value: string): Promise<unknown> => {
    const tx = beginWrite(idb, 'rows');
    const added = tx.change((rows) => rows.add({ k: 1, value }), 'rows');
    return Promise.all([added, tx.commitAtOnce()]);
  };
  await add('first');
  await expect(add('second')).rejects.toMatchObject({
    reason: { name: 'ConstraintError' },
    mayBeCommitted: true,
  });
  expect(await beginWrite(idb, 'rows').raw('rows', 1)).toEqual({ k: 1, value: 'first' });
  idb.close();
  indexedDB.deleteDatabase(name);
});
