/**
 * Random interleaved writes of two engines on one store. The answers are the same as if all writes had been made one after the other, in
 * the order of their times.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import type { QueryAnswer } from '../context/host.ts';
import type { Engine } from '../engine.ts';
import { coll, create, doc, obj, ROOT, type Query } from '../testing/engine-world.ts';
import { createTestEngine } from '../testing/fuzz-world.ts';

const DOCUMENTS = 3;

const amountOf = (id: number): Query => ({
  select: ['data', 'amount'],
  from: { get: doc('accounts', id) },
});
const set = (id: number, data: Record<string, unknown>): Query => ({
  select: ['data'],
  from: { update: doc('accounts', id), params: obj({ data: obj(data) }) },
});
const inCity = (city: number): Query => ({ match: { index: 'by_city' }, terms: city });

/** Queries that differ in what they read: documents, an index, a definition, missing documents, a set of documents. */
const QUERIES: readonly ((a: number, b: number) => Query)[] = [
  (a, b) => [
    set(a, { amount: { subtract: [amountOf(a), 1] } }),
    set(b, { amount: { add: [amountOf(b), 1] } }),
  ],
  (a, b) => set(a, { city: b }),
  (a, b) => set(a, { neighbours: { count: inCity(b) } }),
  (a, b) => set(a, { amount: { call: { function: 'raised' }, arguments: amountOf(b) } }),
  (_, b) => ({
    do: [
      {
        update: { function: 'raised' },
        params: obj({ body: { query: { lambda: 'x', expr: { add: [{ var: 'x' }, b] } } } }),
      },
      'redefined',
    ],
  }),
  (a, b) => ({
    if: { exists: doc('accounts', 100 + a) },
    // oxlint-disable-next-line unicorn/no-thenable -- a form of FQL
    then: { do: [{ delete: doc('accounts', 100 + a) }, 'deleted'] },
    else: set(b, { missed: a }),
  }),
  (a, b) => ({
    select: ['data'],
    from: create(doc('accounts', 100 + a), { amount: amountOf(b), city: b }),
  }),
  (a) => set(a, { all: { count: { documents: coll('accounts') } } }),
];

const field = (name: string): Query => obj({ field: ['data', name] });
const SET_UP: readonly Query[] = [
  { create_collection: obj({ name: 'accounts' }) },
  {
    create_function: obj({
      name: 'raised',
      body: { query: { lambda: 'x', expr: { add: [{ var: 'x' }, 1] } } },
    }),
  },
  { create_index: obj({ name: 'by_city', source: coll('accounts'), terms: [field('city')] }) },
  {
    do: Array.from({ length: DOCUMENTS }, (_, id) =>
      create(doc('accounts', id), { amount: 10, city: id }),
    ),
  },
];

const ask = (engine: Engine, query: Query): Promise<QueryAnswer> =>
  engine.query({ secret: ROOT, query: JSON.stringify(query), apiVersion: '4', allows: 'write' });

async function storeWithAccounts(): Promise<Store> {
  const store = createMemoryStore();
  const engine = createTestEngine({ store });
  for (const query of SET_UP) expect((await ask(engine, query)).status).toBeLessThan(300);
  return store;
}

const number = fc.integer({ min: 0, max: DOCUMENTS - 1 });
const step = fc.record({
  engine: fc.integer({ min: 0, max: 1 }),
  kind: fc.integer({ min: 0, max: QUERIES.length - 1 }),
  a: number,
  b: number,
});

const now = (): number => Math.floor((performance.timeOrigin + performance.now()) * 1000);

test('concurrent writes of two engines give the same answers as one after the other, in the order of their times (L2)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(step, { minLength: 2, maxLength: 24 }),
      fc.constantFrom(0, 0, -2000, 2000),
      async (scheduler, steps, skew) => {
        const store = await storeWithAccounts();
        const waiting: Store = {
          ...store,
          write: async (...args) => {
            await scheduler.schedule(Promise.resolve());
            return store.write(...args);
          },
        };
        const engines = [
          createTestEngine({ store: waiting }),
          createTestEngine({ store: waiting, clock: () => now() + skew }),
        ];
        const queries = steps.map(({ kind, a, b }) => QUERIES[kind]?.(a, b) ?? null);
        // The queries of one engine run one after the other, so each is a commit of its own.
        const answers: QueryAnswer[] = [];
        const lines = engines.map(async (engine, which) => {
          for (const [i, query] of queries.entries())
            if (steps[i]?.engine === which) answers[i] = await ask(engine, query);
        });
        await scheduler.waitFor(Promise.all(lines));

        const order = answers
          .map((answer, i) => ({ answer, query: queries[i] }))
          .filter(({ answer }) => answer.metrics.writeOps > 0)
          .sort((one, other) => one.answer.txnTime - other.answer.txnTime);
        const alone = createTestEngine({ store: await storeWithAccounts() });
        for (const { answer, query } of order)
          expect((await ask(alone, query)).body).toBe(answer.body);
      },
    ),
  );
});
