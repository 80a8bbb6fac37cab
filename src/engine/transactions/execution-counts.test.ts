/** How often common queries are executed: missing reads are requested together, and no query is executed again without need. */
import { expect, test } from 'vitest';
import type { Engine } from '../engine.ts';
import { createMemoryStore } from '../../store/memory.ts';
import { coll, create, doc, obj, ROOT, type Query } from '../testing/engine-world.ts';
import { createTestEngine } from '../testing/fuzz-world.ts';
import { range } from '../testing/large-values.ts';

const alone = { lease: { term: () => 1 } };

async function executionsOf(engine: Engine, query: Query): Promise<number> {
  let executions = 0;
  const { status, body } = await engine.query({
    secret: ROOT,
    query: JSON.stringify(query),
    apiVersion: '4',
    allows: 'write',
    isAbandoned: () => {
      executions += 1;
      return false;
    },
  });
  expect(status, body).toBeLessThan(300);
  return executions;
}

const byCity = (city: string): Query => ({
  map: { lambda: 'x', expr: { get: { var: 'x' } } },
  collection: { paginate: { match: { index: 'people_by_city' }, terms: city }, size: 64 },
});
const person = (n: number) => ({ mail: `m${n}`, city: `c${n % 3}` });

/** A store with people, and the engine that wrote them. */
async function opened() {
  const store = createMemoryStore();
  const engine = createTestEngine({ store, ...alone });
  const field = (name: string) => obj({ field: ['data', name] });
  await executionsOf(engine, { create_collection: obj({ name: 'people' }) });
  await executionsOf(engine, {
    do: [
      {
        create_index: obj({
          name: 'people_by_city',
          source: coll('people'),
          terms: [field('city')],
        }),
      },
      {
        create_index: obj({
          name: 'people_by_mail',
          source: coll('people'),
          unique: true,
          terms: [field('mail')],
        }),
      },
    ],
  });
  const all = range(100).map((n) => create(doc('people', n + 1), person(n)));
  await executionsOf(engine, { do: [...all, 0] });
  return { store, engine };
}

test('a page of whole documents takes three executions: for the schema, the entries with rows, and the answer', async () => {
  const { store } = await opened();
  const engine = createTestEngine({ store, ...alone });
  expect(await executionsOf(engine, byCity('c0'))).toBe(3);
  expect(await executionsOf(engine, byCity('c1'))).toBe(2);
  expect(await executionsOf(engine, byCity('c1'))).toBe(1);
});

test('a get takes three executions: for the schema, the row, and the answer', async () => {
  const { store } = await opened();
  const engine = createTestEngine({ store, ...alone });
  expect(await executionsOf(engine, { get: doc('people', 1) })).toBe(3);
  expect(await executionsOf(engine, { get: doc('people', 2) })).toBe(2);
  expect(await executionsOf(engine, { get: doc('people', 2) })).toBe(1);
});

test('a query that creates documents takes one execution, however many there are', async () => {
  const { engine } = await opened();
  expect(await executionsOf(engine, create(doc('people', 1000), person(1000)))).toBe(1);
  const foreach = {
    lambda: 'p',
    expr: {
      create: { ref: coll('people'), id: { select: 'id', from: { var: 'p' } } },
      params: obj({ data: { var: 'p' } }),
    },
  };
  const collection = range(200).map((n) => obj({ id: String(n + 2000), ...person(n + 2000) }));
  expect(await executionsOf(engine, { do: [{ foreach, collection }, true] })).toBe(1);
});
