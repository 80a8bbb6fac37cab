/**
 * Index entries longer than an index of PostgreSQL accepts: the rest is stored in another column, and the order is that of whole
 * entries.
 */
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import { entriesOf, inRange, put, row, write, at } from '../../src/store/testing/store-rows.ts';
import type { Key } from '../../src/codec/key.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';
import { openTables } from './sql-tables.ts';

const { pglite, postgres } = sharedDatabases();

/** These entries are equal in the first bytes, which are indexed. Some end soon after, some differ only in the last byte. */
const HEAD = 'h'.repeat(1999);
const TAILS = ['', 'a', 'ab', 'b', 'b\u00ff', 'b\u0000', `${'c'.repeat(3000)}1`];
const LONG = [...TAILS, `${'c'.repeat(3000)}2`].map((tail) => HEAD + tail);
const SHORT = ['h', `${HEAD.slice(0, 1500)}z`, 'i'];

for (const [name, database] of Object.entries({ PGlite: pglite, PostgreSQL: postgres })) {
  test(`entries above 2,000 bytes are found, ordered and deleted as in memory, on ${name}`, async () => {
    const stores = [createMemoryStore(), await openTables(await database(), freshTenant())];
    for (const store of stores) {
      const rows = [...LONG, ...SHORT].map((entry, i) => row(`d${i}`, [entry]));
      await put(store, 'documents', rows.toReversed());
      // Two documents with the same long entry, and one that loses its entry.
      await put(store, 'documents', [row('twin', [LONG[7] ?? '']), row('d3', [])]);
      await write(store, { puts: [], deletes: [at('d1')] });
    }
    const ranges = [
      {},
      { reverse: true },
      { limit: 3 },
      { reverse: true, limit: 3 },
      { rows: false },
      { lower: LONG[4] as Key },
      { upper: LONG[6] as Key },
      { lower: LONG[2] as Key, upper: LONG[7] as Key, reverse: true },
      { lower: `${HEAD}b` as Key, upper: `${HEAD}d` as Key, limit: 2 },
    ];
    for (const range of ranges) {
      const [expected, found] = await Promise.all(
        stores.map((store) => inRange(store, { by: 'entry', ...range })),
      );
      expect(found).toEqual(expected);
      expect(expected?.length).toBeGreaterThan(0);
    }
    const all = entriesOf(await inRange(stores[1] ?? createMemoryStore(), { by: 'entry' }));
    expect(all).toHaveLength(LONG.length + SHORT.length - 1);
    expect(all.filter((entry) => entry === LONG[7])).toHaveLength(2);
  });
}
