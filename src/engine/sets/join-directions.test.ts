/** Only the tuples of a join by a lambda tell the directions of its values. Spec: sets-and-pages 4, 5.3. */
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

/** All elements, page by page, as data of queries that have only the cursor of the page before. */
async function readPages(
  world: EngineWorld,
  set: Query,
  side: 'after' | 'before',
  start: Record<string, unknown>,
): Promise<readonly unknown[]> {
  const elements: unknown[] = [];
  let options: Record<string, unknown> | undefined = start;
  while (options) {
    const page = (await world.ask({ paginate: set, size: 2, ...options })) as PageAnswer;
    if (side === 'after') elements.push(...page.data);
    else elements.unshift(...page.data);
    const cursor = page[side];
    options = cursor === undefined ? undefined : { [side]: { quote: cursor } };
  }
  return elements;
}

const DOWN = [50, 40, 30, 20, 10];
const UP = DOWN.toReversed();

test.each<readonly [what: string, set: Query, elements: readonly number[]]>([
  ['descending values', newest, DOWN],
  ['reversed targets', turned, DOWN],
  ['ascending values', oldest, UP],
  ['descending values, reversed', { reverse: newest }, UP],
  ['ascending values, reversed', { reverse: oldest }, DOWN],
  ['distinct', { distinct: newest }, DOWN],
  ['a union of joins', { union: [newest, turned] }, DOWN],
  ['an intersection of joins', { intersection: [newest, turned] }, DOWN],
  ['a difference of joins', { difference: [newest, join(of('newest', 'nobody'))] }, DOWN],
])('paginate() reads a join by a lambda both ways: %s', async (_, set, elements) => {
  const world = await openPosts();
  expect(await readPages(world, set, 'after', {})).toEqual(elements);
  const last = (await world.ask({ paginate: set, size: 4 })) as PageAnswer;
  const before = { before: { quote: last.after } };
  expect(await readPages(world, set, 'before', before)).toEqual(elements.slice(0, 4));
});
