import { expect, test } from 'vitest';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';
import { range } from '../testing/large-values.ts';

/** A collection with more documents than an index is built of at once. */
async function world(documents: number, data: (n: number) => object): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'jars' }) });
  for (const n of range(documents)) await w.ask(create(doc('jars', n + 1), { n, ...data(n) }));
  return w;
}

const byField = (name: string) =>
  obj({ name: `by_${name}`, source: coll('jars'), terms: obj({ field: ['data', name] }) });

const count = (w: EngineWorld, name: string, term: unknown) =>
  w.ask({ count: { match: { index: `by_${name}` }, terms: term } });

test('buildIndexes() builds an index of documents that are larger together than a transaction', async () => {
  const text = 'x'.repeat(140_000);
  const w = await world(140, () => ({ text }));
  await w.ask({ create_index: byField('n') });
  await w.engine.buildIndexes();
  expect([await count(w, 'n', 0), await count(w, 'n', 139)]).toEqual([1, 1]);
  expect(await w.engine.verify()).toEqual([]);
});

test('buildIndexes() builds an index of a document whose versions are larger together than a transaction', async () => {
  const text = 'x'.repeat(6_000_000);
  const w = await world(140, () => ({}));
  for (const n of [140, 141, 142, 143])
    await w.ask({ update: doc('jars', 1), params: obj({ data: obj({ n, text }) }) });
  await w.ask({ create_index: byField('n') });
  await w.engine.buildIndexes();
  expect([await count(w, 'n', 139), await count(w, 'n', 143)]).toEqual([1, 1]);
  expect(await w.engine.verify()).toEqual([]);
});

test('buildIndexes() builds the others when one cannot be built, and fails with what was said of that', async () => {
  const w = await world(140, (n) => (n === 70 ? { tag: 'x'.repeat(40_000) } : { tag: `${n}` }));
  await w.ask({ create_index: byField('tag') });
  await w.ask({ create_index: byField('n') });
  await expect(w.engine.buildIndexes()).rejects.toThrow(
    "Index 'by_tag' cannot hold a term, value or entry of more than 32767 bytes.",
  );
  expect(await count(w, 'n', 139)).toBe(1);
  await w.ask({ delete: { index: 'by_tag' } });
  await w.engine.buildIndexes();
});

test('an index whose documents nearly fill a transaction is built later, rather than refused', async () => {
  const text = 'x'.repeat(100_000);
  const w = await world(120, (n) => ({ text, tag: `${n}`.padEnd(30_000, 'y') }));
  await w.ask({ create_index: byField('tag') });
  await w.engine.buildIndexes();
  expect(await count(w, 'tag', '7'.padEnd(30_000, 'y'))).toBe(1);
});
