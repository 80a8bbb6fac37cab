import { expect, test, vi } from 'vitest';
import { Schema } from '../catalog/schema.ts';
import { EngineWorld, obj, type Query } from '../testing/engine-world.ts';

/** Unions of unions, in so many levels: each has the one inside it and ten matches. */
function nestedUnion(levels: number): Query {
  const match = (n: number): Query => ({ match: { index: 'things_by_n' }, terms: n });
  let union = match(0);
  for (let level = 0; level < levels; level++)
    union = { union: [union, ...Array.from({ length: 10 }, (_, n) => match(n))] };
  return { is_set: union };
}

test('each set of a nested union is looked at once', async () => {
  const world = new EngineWorld();
  await world.ask({ create_collection: obj({ name: 'things' }) });
  await world.ask({
    create_index: obj({
      name: 'things_by_n',
      source: { collection: 'things' },
      terms: [obj({ field: ['data', 'n'] })],
    }),
  });
  const looks = vi.spyOn(Schema.prototype, 'index');
  const looksOf = async (levels: number): Promise<number> => {
    looks.mockClear();
    expect(await world.ask(nestedUnion(levels))).toBe(true);
    return looks.mock.calls.length;
  };
  const few = await looksOf(20);
  expect(await looksOf(80)).toBeLessThanOrEqual(4 * few);
  looks.mockRestore();
});
