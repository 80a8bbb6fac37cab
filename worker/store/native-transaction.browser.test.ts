import { expect, test } from 'vitest';
import { freshName } from '../testing/store-kit.ts';
import { Watchdog } from './deadline.ts';
import { NativeTransaction } from './native-transaction.ts';

test('commitAtOnce() stores nothing when the one request that writes fails', async () => {
  const name = freshName();
  const opening = indexedDB.open(name);
  opening.addEventListener('upgradeneeded', () => {
    for (const store of ['rows', 'files'])
      opening.result.createObjectStore(store, { keyPath: 'k' });
  });
  const idb = await new Promise<IDBDatabase>((resolve) => {
    opening.addEventListener('success', () => resolve(opening.result));
  });
  const begin = (): NativeTransaction =>
    new NativeTransaction(idb, {
      stores: ['rows'],
      mode: 'readwrite',
      durability: 'relaxed',
      watchdog: new Watchdog(),
      onAnswer: () => undefined,
      onEnded: () => undefined,
    });
  const add = (value: string): Promise<unknown> => {
    const tx = begin();
    const added = tx.change((rows) => rows.add({ k: 1, value }), 'rows');
    return Promise.all([added, tx.commitAtOnce()]);
  };
  await add('first');
  await expect(add('second')).rejects.toMatchObject({
    reason: { name: 'ConstraintError' },
    mayBeCommitted: true,
  });
  const reading = begin();
  expect(await reading.raw('rows', 1)).toEqual({ k: 1, value: 'first' });
  idb.close();
  indexedDB.deleteDatabase(name);
});
