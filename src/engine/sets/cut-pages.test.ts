/** `take` and `drop` on pages that were read and then changed. Spec: sets-and-pages 5.5. */
import { expect, test } from 'vitest';
import { coll, create, doc, EngineWorld, obj, type Query } from '../testing/engine-world.ts';

const NUMBERS = { match: { index: 'numbers' } };
/** A page of the first three of five numbers. */
const page: Query = { paginate: NUMBERS, size: 3 };
const bound = (name: string): Query => ({ lambda: name, expr: { var: name } });
const isOdd: Query = { equals: [{ modulo: [{ var: 'n' }, 2] }, 1] };

async function openNumbers(): Promise<EngineWorld> {
  const world = new EngineWorld();
  await world.ask({ create_collection: obj({ name: 'notes' }) });
  const values = [obj({ field: ['data', 'n'] })];
  await world.ask({ create_index: obj({ name: 'numbers', source: coll('notes'), values }) });
  for (const n of [1, 2, 3, 4, 5]) await world.ask(create(doc('notes', n), { n }));
  return world;
}

test.each<readonly [what: string, collection: Query, taken: number, dropped: number]>([
  ['as it was read', page, 2, 2],
  ['mapped', { map: { lambda: 'n', expr: [{ var: 'n' }] }, collection: page }, 2, 2],
  ['mapped twice', { map: bound('n'), collection: { map: bound('n'), collection: page } }, 2, 2],
  [
    'filtered and mapped',
    { map: bound('n'), collection: { filter: { lambda: 'n', expr: isOdd }, collection: page } },
    3,
    3,
  ],
  [
    'mapped and filtered',
    { filter: { lambda: 'n', expr: isOdd }, collection: { map: bound('n'), collection: page } },
    3,
    3,
  ],
  ['mapped and distinct', { distinct: { map: bound('n'), collection: page } }, 2, 2],
  ['mapped and reversed', { reverse: { map: bound('n'), collection: page } }, 2, 2],
  ['mapped and cut', { take: 2, collection: { map: bound('n'), collection: page } }, 2, 2],
])(
  'take and drop make cursors from the elements as they were read: %s',
  async (_, collection, taken, dropped) => {
    const world = await openNumbers();
    const cursor = (n: number): unknown => [
      n,
      expect.objectContaining({ '@ref': expect.anything() }),
    ];
    expect(await world.ask({ take: 1, collection })).toMatchObject({ after: cursor(taken) });
    expect(await world.ask({ drop: 1, collection })).toMatchObject({ before: cursor(dropped) });
  },
);

test('take and drop make cursors from the events as they were read, also on a mapped page', async () => {
  const world = await openNumbers();
  await world.ask({ update: doc('notes', 1), params: obj({ data: obj({ n: 6 }) }) });
  const events: Query = { paginate: doc('notes', 1), events: true };
  const mapped: Query = { map: { lambda: 'e', expr: 0 }, collection: events };
  const updated = expect.objectContaining({ action: 'update' });
  for (const collection of [events, mapped]) {
    expect(await world.ask({ take: 1, collection })).toMatchObject({ after: updated });
    expect(await world.ask({ drop: 1, collection })).toMatchObject({ before: updated });
  }
});
