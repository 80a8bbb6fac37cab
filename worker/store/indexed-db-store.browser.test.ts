import { afterEach, describe, expect, test } from 'vitest';
import { metaKey } from '../../src/codec/key.ts';
import type { Key } from '../../src/codec/key.ts';
import type { Row } from '../../src/store/port.ts';
import { describeStore } from '../../src/store/store.contract.ts';
import { openIndexedDbStore } from './open-layout.ts';
import type { BrowserStore } from './browser-store.ts';
import { storeOptions } from '../testing/store-kit.ts';

const open = (name: string): Promise<BrowserStore> => openIndexedDbStore(name, storeOptions());

describeStore('openDexieStore()', open);

describe('without getAllRecords', () => {
  const hide = (): (() => void) => {
    const hidden = [IDBIndex.prototype, IDBObjectStore.prototype].map((prototype) => {
      const former = Object.getOwnPropertyDescriptor(prototype, 'getAllRecords');
      Reflect.deleteProperty(prototype, 'getAllRecords');
      return () => former && Object.defineProperty(prototype, 'getAllRecords', former);
    });
    return () => hidden.forEach((putBack) => putBack());
  };
  let putBack: (() => void) | undefined;
  afterEach(() => {
    putBack?.();
    putBack = undefined;
  });

  describeStore('openDexieStore()', (name) => {
    putBack ??= hide();
    return open(name);
  });
});

test('rows are kept when the database is closed and opened again', async () => {
  const store = await open('reload');
  await put(store, { key: metaKey('head'), entries: [], value: '{"ts":7}' });
  await store.close();
  const again = await open('reload');
  expect(again.loss).toBeUndefined();
  expect(again.birth).toBe(store.birth);
  expect(await valueOf(again, metaKey('head'))).toBe('{"ts":7}');
  await again.destroy();
});

const put = (store: BrowserStore, row: Row): Promise<void> =>
  store.write(async (tx) => tx.apply({ puts: [{ space: 'meta', row }], deletes: [] }), {
    durability: 'strict',
  });

const valueOf = (store: BrowserStore, key: Key): Promise<unknown> =>
  store.read(async (tx) => (await tx.fetch([{ space: 'meta', key }], [])).rows[0]?.value);
