/**
 * Pages of sets whose shape is not that of one index: the directions and the number of values of a join by a lambda are known only from its
 * tuples, and members of a union, intersection or difference may have different numbers of values. Spec: sets-and-pages 4, 5.3.
 */
import { expect, test } from 'vitest';
import { coll, create, doc, EngineWorld, obj, type Query } from '../testing/engine-world.ts';

const of = (index: string, terms: Query): Query => ({ match: { index }, terms });
const join = (target: Query): Query => ({
  join: { match: { index: 'followed' } },
  with: { lambda: 'author', expr: target },
});
const newest = join(of('newest', { var: 'author' }));
const turned = join({ reverse: of('oldest', { var: 'author' }) });
const oldest = join(of('oldest', { var: 'author' }));

async function openPosts(): Promise<EngineWorld> {
  const world = new EngineWorld();
  for (const name of ['authors', 'posts']) await world.ask({ create_collection: obj({ name }) });
  const at = { field: ['data', 'at'] };
  const indexes = [
    { name: 'followed', source: coll('authors'), values: [obj({ field: ['data', 'name'] })] },
    { name: 'newest', source: coll('posts'), values: [obj({ ...at, reverse: true })] },
    { name: 'oldest', source: coll('posts'), values: [obj(at)] },
    { name: 'pairs', source: coll('posts'), values: [obj(at), obj({ field: ['data', 'author'] })] },
    {
      name: 'newest_pairs',
      source: coll('posts'),
      values: [obj({ ...at, reverse: true }), obj({ field: ['data', 'author'] })],
    },
    { name: 'refs', source: coll('posts') },
  ];
  for (const index of indexes) {
    const terms = index.name === 'followed' ? {} : { terms: [obj({ field: ['data', 'author'] })] };
    await world.ask({ create_index: obj({ ...index, ...terms }) });
  }
  for (const name of ['ada', 'bob']) await world.ask(create(coll('authors'), { name }));
  for (const n of [1, 2, 3, 4, 5]) {
    await world.ask(create(doc('posts', n), { author: n % 2 ? 'ada' : 'bob', at: n * 10 }));
  }
  return world;
}

interface PageAnswer {
  readonly data: readonly unknown[];
  readonly before?: unknown;
  readonly after?: unknown;
}

/** More elements than any of the sets has, to detect pages that repeat forever. */
const ELEMENTS_MAX = 20;

/** All elements, read page by page. Each query gets only the cursor of the previous page, as data. */
async function readPages(
  world: EngineWorld,
  set: Query,
  side: 'after' | 'before',
  start: Record<string, unknown>,
): Promise<readonly unknown[]> {
  const elements: unknown[] = [];
  let options: Record<string, unknown> | undefined = start;
  while (options && elements.length < ELEMENTS_MAX) {
    const page = (await world.ask({ paginate: set, size: 1, ...options })) as PageAnswer;
    if (side === 'after') elements.push(...page.data);
    else elements.unshift(...page.data);
    const cursor = page[side];
    options = cursor === undefined ? undefined : { [side]: { quote: cursor } };
  }
  return elements;
}

const DOWN = [50, 40, 30, 20, 10];
const UP = DOWN.toReversed();
const ODD = [10, 30, 50];
const ofBoth = join({
  if: { equals: [{ var: 'author' }, 'ada'] },
  // oxlint-disable-next-line unicorn/no-thenable -- the wire key
  then: of('newest', { var: 'author' }),
  else: of('oldest', { var: 'author' }),
});
const pairs = join(of('pairs', { var: 'author' }));
const PAIRS = UP.map((at) => [at, at % 20 === 0 ? 'bob' : 'ada']);
const REFS = [1, 3, 5].map((id) =>
  expect.objectContaining({ '@ref': expect.objectContaining({ id: String(id) }) }),
);

test.each<readonly [what: string, set: Query, elements: readonly unknown[]]>([
  ['descending values', newest, DOWN],
  ['reversed targets', turned, DOWN],
  ['ascending values', oldest, UP],
  ['descending values, reversed', { reverse: newest }, UP],
  ['ascending values, reversed', { reverse: oldest }, DOWN],
  ['distinct', { distinct: newest }, DOWN],
  ['a union of joins', { union: [newest, turned] }, DOWN],
  ['an intersection of joins', { intersection: [newest, turned] }, DOWN],
  ['a difference of joins', { difference: [newest, join(of('newest', 'nobody'))] }, DOWN],
  ['a union with a set in the other direction', { union: [newest, of('oldest', 'ada')] }, UP],
  ['a union of joins in both directions', { union: [newest, oldest] }, DOWN],
  ['an intersection of both directions', { intersection: [newest, of('oldest', 'ada')] }, ODD],
  ['a difference of both directions', { difference: [newest, of('oldest', 'bob')] }, ODD],
  ['a join of targets in both directions', ofBoth, DOWN],
  ['a join of targets in both directions, reversed', { reverse: ofBoth }, UP],
  [
    'a join between sets in both directions',
    { union: [of('newest', 'ada'), pairs, of('oldest', 'ada')] },
    [50, [50, 'ada'], [40, 'bob'], 30, [30, 'ada'], [20, 'bob'], 10, [10, 'ada']],
  ],
  [
    'descending pairs with single values, reversed',
    { union: [of('newest_pairs', 'ada'), { reverse: of('oldest', 'ada') }] },
    [50, [50, 'ada'], 30, [30, 'ada'], 10, [10, 'ada']],
  ],
  [
    'descending pairs with a join of single values, reversed',
    { union: [of('newest_pairs', 'ada'), { reverse: oldest }] },
    [50, [50, 'ada'], 40, 30, [30, 'ada'], 20, 10, [10, 'ada']],
  ],
  [
    'a union of a join of pairs with single values',
    { union: [of('oldest', 'ada'), pairs] },
    [10, [10, 'ada'], [20, 'bob'], 30, [30, 'ada'], [40, 'bob'], 50, [50, 'ada']],
  ],
  ['a difference of a join of pairs and single values', { difference: [pairs, oldest] }, PAIRS],
  [
    'a union of a join of pairs with refs',
    { union: [of('refs', 'ada'), pairs] },
    [...PAIRS, ...REFS],
  ],
  [
    'a union of pairs with single values, reversed',
    { reverse: { union: [of('oldest', 'ada'), of('pairs', 'ada')] } },
    [[50, 'ada'], 50, [30, 'ada'], 30, [10, 'ada'], 10],
  ],
  [
    'a union of pairs with refs, reversed',
    { reverse: { union: [of('refs', 'ada'), of('pairs', 'ada')] } },
    [...REFS.toReversed(), [50, 'ada'], [30, 'ada'], [10, 'ada']],
  ],
])('paginate() reads a set in both directions: %s', async (_, set, elements) => {
  const world = await openPosts();
  expect(await readPages(world, set, 'after', {})).toEqual(elements);
  const size = elements.length - 1;
  const last = (await world.ask({ paginate: set, size })) as PageAnswer;
  const before = { before: { quote: last.after } };
  expect(await readPages(world, set, 'before', before)).toEqual(elements.slice(0, size));
});

test('combined sets of opposite directions have the same events as sets of one direction', async () => {
  const world = await openPosts();
  const added = (values: readonly number[]) => values.map((at) => ['add', [at]]);
  const ada = of('oldest', 'ada');
  expect(await world.events({ intersection: [newest, ada] })).toEqual(added(ODD));
  expect(await world.events({ union: [newest, ada] })).toEqual(added(UP));
  expect(await world.events({ difference: [newest, ada] })).toEqual(added([20, 40]));
  expect(await world.events(ofBoth)).toEqual(added(UP));
});
