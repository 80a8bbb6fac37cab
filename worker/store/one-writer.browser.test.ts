/** Chromium loses a database if two transactions were writing to it when the browser was killed: docs/decisions/0004-crash.md. */
import { describe, expect, test } from 'vitest';
import { metaKey } from '../../src/codec/key.ts';
import type { Space, Store } from '../../src/store/port.ts';
import { withFault } from '../testing/idb-faults.ts';
import { OPEN, STORE_KINDS } from '../testing/store-kinds.ts';
import { freshName } from '../testing/store-kit.ts';
import { PackedDatabase } from './packed/packed-database.ts';

const put = (store: Store, spaces: readonly [Space, ...Space[]], name: string): Promise<void> =>
  store.write(
    async (tx) => {
      const row = { key: metaKey(name), entries: [], value: name.repeat(20) };
      tx.apply({ puts: [{ space: spaces[0], row }], deletes: [] });
    },
    { spaces, durability: 'relaxed' },
  );

/** All transactions that begin while the body runs. */
async function begunIn(body: () => Promise<void>): Promise<readonly IDBTransaction[]> {
  const begun: IDBTransaction[] = [];
  const note = (_call: unknown, result: unknown): void => {
    if (result instanceof IDBTransaction) begun.push(result);
  };
  await withFault({ after: note }, body);
  return begun;
}

describe.each(STORE_KINDS)('in the layout `%s`', (kind) => {
  test('write transactions wait for each other, whatever they write; read transactions do not wait', async () => {
    const name = freshName();
    const limits = { memtableBytesMax: 2000, putBytes: 1000, tableBytes: 4000 };
    const [one, two] = [await OPEN[kind](name, { limits }), await OPEN[kind](name, { limits })];
    const begun = await begunIn(async () => {
      for (let n = 0; n < 40; n += 1)
        await Promise.all([
          put(one, ['documents', 'history', 'meta'], `document ${n}`),
          put(one, ['log'], `record ${n}`),
          put(two, ['files'], `file ${n}`),
          put(two, ['meta'], `name ${n}`),
          one.read((tx) => tx.fetch([{ space: 'documents', key: metaKey('document 1') }], []), {
            spaces: ['documents'],
          }),
        ]);
      if (one instanceof PackedDatabase) await one.maybeFlush();
      await one.close();
      await two.destroy();
    });
    const namesOf = (mode: IDBTransactionMode): readonly (readonly string[])[] =>
      begun.filter((tx) => tx.mode === mode).map((tx) => [...tx.objectStoreNames]);
    const writers = namesOf('readwrite');
    const own = kind === 'rows' ? 'documents' : 'blocks';
    expect(writers.flat()).toEqual(expect.arrayContaining([own, 'log']));
    const common = writers.reduce((kept, names) => kept.filter((each) => names.includes(each)));
    expect(common).toEqual(['files']);
    expect(namesOf('readonly').flat()).not.toContain('files');
  });
});
