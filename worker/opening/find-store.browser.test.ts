import { expect, test } from 'vitest';
import { writeLock } from '../lock/lock.ts';
import { destroyStore } from '../store/browser-store.ts';
import { openStoredDatabase } from '../store/open-store.ts';
import { freshName } from '../testing/store-kit.ts';
import { findStore, type DatabaseStorage } from './find-store.ts';

const STORAGE: DatabaseStorage = {
  openStore: openStoredDatabase,
  destroyStore: (name) => destroyStore(name),
  isShared: true,
};
const HANDLERS = { onClosed: () => undefined, leaseTerm: () => undefined };

test.each(['rows', 'packed'] as const)(
  'findStore() completes an interrupted deletion in the layout `%s`',
  async (store) => {
    const name = freshName();
    const request = { name, birth: undefined, aliveLock: name, settings: { store } };
    const before = await findStore(STORAGE, request, HANDLERS);
    await writeLock(before?.stored.store ?? noStore(), 'forgotten');
    await before?.stored.store.close();
    const after = await findStore(STORAGE, request, HANDLERS);
    expect(after?.stored.birth).not.toBe(before?.stored.birth);
    expect(after?.stored).toMatchObject({ isNew: true, loss: undefined });
    await after?.stored.destroy();
  },
);

function noStore(): never {
  throw new Error('no store');
}
