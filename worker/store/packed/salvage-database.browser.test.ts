import { expect, test, vi } from 'vitest';
import { SMALL } from '../../../src/packed/testing/packed-kit.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import type { Store } from '../../../src/store/port.ts';
import { fixed, increment, put, row, sequence } from '../../../src/store/testing/store-rows.ts';
import { rawOpen } from '../../testing/raw-database.ts';
import { OPEN } from '../../testing/store-kinds.ts';
import { freshName, storeOptions } from '../../testing/store-kit.ts';
import { MOVING_LAYOUT } from '../layouts.ts';
import { openIndexedDbStore } from '../open-layout.ts';
import { salvageDatabase } from './salvage-database.ts';

test('salvageDatabase() refuses a half-moved database as stored as rows', async () => {
  const name = freshName();
  const former = await OPEN.rows(name);
  await increment(former);
  await former.close();
  const moving = await openIndexedDbStore(name, storeOptions({ layout: MOVING_LAYOUT }));
  await moving.close();
  await expect(salvageDatabase(name, createMemoryStore())).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('stored as rows'),
  });
  await deleted(name);
});

test('salvageDatabase() rejects with storage_blocked when another tab prevents opening', async () => {
  const name = freshName();
  const store = await OPEN.packed(name);
  await store.close();
  const holder = await rawOpen(name);
  const deletion = indexedDB.deleteDatabase(name);
  await expect(salvageDatabase(name, createMemoryStore(), 200)).rejects.toMatchObject({
    code: 'storage_blocked',
  });
  holder.close();
  await settled(deletion);
});

test('salvageDatabase() rejects with storage_unavailable when the database is deleted during it', async () => {
  const name = freshName();
  const store = await OPEN.packed(name, { limits: SMALL });
  const rows = sequence(300).map((i) => row(fixed(i)));
  await put(store, 'sync', rows);
  await vi.waitUntil(async () => (await blocksOf(name)) > 60, { timeout: 60_000 });
  await store.close();
  const memory = createMemoryStore();
  const into: Store = {
    ...memory,
    write: async (...call) => {
      await deleted(name);
      return memory.write(...call);
    },
  };
  await expect(salvageDatabase(name, into)).rejects.toMatchObject({ code: 'storage_unavailable' });
});

const settled = (request: IDBRequest): Promise<unknown> =>
  new Promise((resolve) => request.addEventListener('success', resolve));

const deleted = (name: string): Promise<unknown> => settled(indexedDB.deleteDatabase(name));

async function blocksOf(name: string): Promise<number> {
  const idb = await rawOpen(name);
  const request = idb.transaction('blocks').objectStore('blocks').count();
  await settled(request);
  idb.close();
  return request.result;
}
