import { expect, test } from 'vitest';
import { HIGHEST_KEY, LOWEST_KEY } from '../../codec/key.ts';
import { scan } from '../../store/scan.ts';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';
import { range } from '../testing/large-values.ts';

/** A collection with documents. With many of them, an index is not built at once. */
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

test('buildIndexes() builds an index whose documents together exceed the size of a transaction', async () => {
  const text = 'x'.repeat(140_000);
  const w = await world(140, () => ({ text }));
  await w.ask({ create_index: byField('n') });
  await w.engine.buildIndexes();
  expect([await count(w, 'n', 0), await count(w, 'n', 139)]).toEqual([1, 1]);
  expect(await w.engine.verify()).toEqual([]);
});

test('buildIndexes() builds an index of a document whose versions together exceed the size of a transaction', async () => {
  const text = 'x'.repeat(6_000_000);
  const w = await world(140, () => ({}));
  for (const n of [140, 141, 142, 143])
    await w.ask({ update: doc('jars', 1), params: obj({ data: obj({ n, text }) }) });
  await w.ask({ create_index: byField('n') });
  await w.engine.buildIndexes();
  expect([await count(w, 'n', 139), await count(w, 'n', 143)]).toEqual([1, 1]);
  expect(await w.engine.verify()).toEqual([]);
});

test.each([140, 80])(
  'an index of %i documents omits documents with too long terms, and verify() reports them',
  async (documents) => {
    const tooLong = "Index 'by_tag' cannot hold a term, value or entry of more than 32767 bytes.";
    const w = await world(documents, (n) => ({ tag: n === 70 ? 'x'.repeat(40_000) : `${n}` }));
    await w.ask({
      update: doc('jars', 3),
      params: obj({ data: obj({ tag: 'y'.repeat(40_000) }) }),
    });
    await w.ask({ update: doc('jars', 3), params: obj({ data: obj({ tag: 'short' }) }) });
    await w.ask({ create_index: byField('tag') });
    await w.engine.buildIndexes();
    expect(await w.ask({ select: 'active', from: { get: { index: 'by_tag' } } })).toBe(true);
    expect([await count(w, 'tag', '69'), await count(w, 'tag', 'short')]).toEqual([1, 1]);
    const all = { documents: coll('jars') };
    expect(await w.ask({ count: all })).toBe(documents);
    const problems = await w.engine.verify();
    expect(problems).toEqual([
      expect.stringMatching(/^documents row [0-9a-f]+ is not in an index: /),
    ]);
    expect(problems[0]).toContain(tooLong);

    // An update of such a document fails with the reason. Its history can still be written, and it can be deleted.
    const update = { update: doc('jars', 71), params: obj({ data: obj({ n: 0 }) }) };
    expect(await w.fault(update)).toMatchObject({ code: 'bad request', description: tooLong });
    await w.ask({
      insert: doc('jars', 3),
      ts: w.now - 5,
      action: 'create',
      params: obj({ data: obj({ tag: 'new' }) }),
    });
    await w.ask({ delete: doc('jars', 71) });
    expect(await w.engine.verify()).toEqual([]);
  },
);

test('an index whose documents nearly fill a transaction is built later instead of being refused', async () => {
  const text = 'x'.repeat(100_000);
  const w = await world(120, (n) => ({ text, tag: `${n}`.padEnd(30_000, 'y') }));
  await w.ask({ create_index: byField('tag') });
  await w.engine.buildIndexes();
  expect(await count(w, 'tag', '7'.padEnd(30_000, 'y'))).toBe(1);
});

test('buildIndexes() ends, however fast documents are created during the build', async () => {
  const w = await world(140, () => ({}));
  await w.ask({ create_index: byField('n') });
  const creating: Promise<unknown>[] = [];
  await w.engine.buildIndexes({
    onProgress({ isComplete }) {
      const n = 140 + creating.length;
      if (!isComplete && n < 160) creating.push(w.ask(create(doc('jars', n + 1), { n })));
    },
  });
  expect(creating.length).toBeLessThan(10);
  await Promise.all(creating);
  expect([await count(w, 'n', 139), await count(w, 'n', 140)]).toEqual([1, 1]);
  expect(await w.engine.verify()).toEqual([]);
});

test('an interrupted index build continues where it stopped, and leaves no temporary rows', async () => {
  const w = await world(600, () => ({}));
  await w.ask({ create_index: byField('n') });
  const first = w.engine.buildIndexes({
    onProgress({ done }) {
      if (done > 300) throw new Error('The page is closed.');
    },
  });
  await expect(first).rejects.toThrow('The page is closed.');
  const sizes: number[] = [];
  await w.engine.buildIndexes({ onProgress: ({ done }) => sizes.push(done) });
  expect(sizes.at(-1)).toBeLessThan(300);
  expect([await count(w, 'n', 0), await count(w, 'n', 599)]).toEqual([1, 1]);
  expect(await w.engine.verify()).toEqual([]);
  const all = scan('sync', { lower: LOWEST_KEY, upper: HIGHEST_KEY }, { limit: 10 });
  const { ranges } = await w.store.read((tx) => tx.fetch([], [all]));
  expect(ranges).toEqual([[]]);
});
