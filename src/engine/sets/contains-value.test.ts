import { expect, test } from 'vitest';
import { coll, create, doc, EngineWorld, obj, type Query } from '../testing/engine-world.ts';

const field = (...path: readonly string[]): Query => obj({ field: path });

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'books' }) });
  const indexes = {
    all: {},
    by_pages: { values: [field('data', 'pages'), field('data', 'title')] },
    down: { values: [obj({ field: ['data', 'pages'], reverse: true }), field('data', 'title')] },
    pages: { values: [field('data', 'pages')] },
  };
  for (const [name, more] of Object.entries(indexes))
    await w.ask({ create_index: obj({ name, source: coll('books'), active: true, ...more }) });
  await w.ask(create(doc('books', 1), { pages: 120, title: 'cedar' }));
  await w.ask(create(doc('books', 2), { pages: 80, title: 'alder' }));
  await w.ask(create(doc('books', 3), { pages: 120, title: 'oak' }));
  return w;
}

const match = (index: string): Query => ({ match: { index } });

test.each<[string, Query, boolean]>([
  ['by_pages', [120, 'cedar'], true],
  ['by_pages', [120, 'oak'], true],
  ['by_pages', 120, false],
  ['by_pages', [120], false],
  ['by_pages', [80, 'cedar'], false],
  ['by_pages', [120, 'cedar', doc('books', 1)], false],
  ['down', [120, 'oak'], true],
  ['down', 120, false],
  ['pages', 120, true],
  ['pages', [120], false],
  ['pages', 100, false],
  ['all', doc('books', 2), true],
  ['all', doc('books', 9), false],
])('a match of index %s contains %j: %s', async (index, value, contains) => {
  const w = await world();
  for (const set of [match(index), { distinct: match(index) }, { union: [match(index)] }])
    expect(await w.ask({ contains_value: value, in: set })).toBe(contains);
});

test('contains_value compares whole tuples in a set of tuples of different lengths', async () => {
  const w = await world();
  const values = [field('data', 'pages'), field('ref')];
  const source = coll('books');
  await w.ask({ create_index: obj({ name: 'with_ref', source, values, active: true }) });
  await w.ask({
    create_index: obj({ name: 'by_ref', source, values: [field('ref')], active: true }),
  });
  const target = { range: match('with_ref'), from: [], to: [] };
  const mixed = { union: [match('pages'), match('with_ref')] };
  for (const set of [
    mixed,
    { reverse: mixed },
    { join: match('by_ref'), with: { lambda: '_', expr: mixed } },
    { reverse: { join: match('by_ref'), with: { lambda: '_', expr: mixed } } },
  ]) {
    const contained = [120, [120, doc('books', 1)], [120, doc('books', 3)], [80, doc('books', 2)]];
    for (const value of contained)
      expect(await w.ask({ contains_value: value, in: set })).toBe(true);
    for (const value of [100, [120, doc('books', 2)], [120], [120, doc('books', 1), 1]])
      expect(await w.ask({ contains_value: value, in: set })).toBe(false);
  }
  expect(await w.ask({ contains_value: 120, in: target })).toBe(false);
});
