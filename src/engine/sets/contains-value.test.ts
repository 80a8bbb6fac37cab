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
])('%s contains %j: %s', async (index, value, contains) => {
  const w = await world();
  for (const set of [match(index), { distinct: match(index) }, { union: [match(index)] }])
    expect(await w.ask({ contains_value: value, in: set })).toBe(contains);
});
