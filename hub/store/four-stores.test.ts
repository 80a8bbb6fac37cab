/**
 * Q2: the same queries in the same order have the same answers, byte for byte, on four stores: in memory, packed, on PGlite and
 * on PostgreSQL. The packed store flushes and merges all the time.
 * BURROW_STORE_CASES sets the number of cases (300), BURROW_SEED the seed.
 */
import { expect, test } from 'vitest';
import { RandomSource, seedOf } from '../../src/engine/testing/random-source.ts';
import { coll, EngineWorld, obj, ROOT } from '../../src/engine/testing/engine-world.ts';
import { ModelQueries } from '../../src/engine/testing/model/model-queries.ts';
import { QueryMaker } from '../../src/engine/testing/query-maker.ts';
import { textOf } from '../../src/engine/testing/query-text.ts';
import { MediumData } from '../../src/packed/testing/memory-medium.ts';
import { openPacked, SMALL } from '../../src/packed/testing/packed-kit.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { everything } from '../../src/store/testing/store-rows.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';
import { openTables } from './sql-tables.ts';

const CASES = Number(process.env['BURROW_STORE_CASES'] ?? 300);
const SEED = seedOf('BURROW_SEED');
const QUERIES_PER_WORLD = 50;

const INDEXES = [
  { name: 'i0', collection: 'c', terms: ['a'], values: [], unique: false },
  { name: 'i1', collection: 'c', terms: ['b'], values: [], unique: true },
  {
    name: 'i2',
    collection: 'c',
    terms: [],
    values: [
      { field: 'a', reverse: true },
      { field: 'ref', reverse: false },
    ],
    unique: false,
  },
];

const fieldOf = (field: string) => (field === 'ref' ? 'ref' : ['data', field]);

const SET_UP = [
  ...['c', 'd', 'people'].map((name) => ({ create_collection: obj({ name }) })),
  ...INDEXES.map(({ name, terms, values, unique }) => ({
    create_index: obj({
      name,
      unique,
      source: coll('c'),
      terms: terms.map((field) => obj({ field: fieldOf(field) })),
      values: values.map(({ field, reverse }) => obj({ field: fieldOf(field), reverse })),
    }),
  })),
].map((query) => JSON.stringify(query));

const { pglite, postgres } = sharedDatabases();

async function openWorlds() {
  const stores = [
    createMemoryStore(),
    await openPacked(new MediumData(), SMALL),
    await openTables(await pglite(), freshTenant()),
    await openTables(await postgres(), freshTenant()),
  ];
  return { stores, worlds: stores.map((store) => new EngineWorld(store)) };
}

const ask = async (world: EngineWorld, query: string): Promise<string> => {
  world.now += 1_000_000;
  const { status, body, txnTime } = await world.engine.query({
    secret: ROOT,
    query,
    apiVersion: '4',
    allows: 'write',
  });
  return `${status} ${txnTime} ${body}`;
};

test(`${CASES} queries have the same answers on all four stores (seed ${SEED}) (L11)`, async () => {
  const randomSource = new RandomSource(SEED);
  let answered = 0;
  for (let asked = 0; asked < CASES;) {
    const { stores, worlds } = await openWorlds();
    const model = new ModelQueries(randomSource, INDEXES);
    const maker = new QueryMaker(randomSource);
    const some = (): string =>
      textOf(
        randomSource.chance(0.3)
          ? maker.query()
          : randomSource.chance(0.5)
            ? model.write(0)
            : model.query(),
      );
    const random = Array.from({ length: Math.min(QUERIES_PER_WORLD, CASES - asked) }, some);
    for (const query of [...SET_UP, ...random]) {
      const [expected, ...answers] = await Promise.all(worlds.map((world) => ask(world, query)));
      for (const answer of answers) expect(answer, query).toBe(expected);
      if (expected?.startsWith('20')) answered += 1;
    }
    asked += random.length;
    const [kept, ...others] = await Promise.all(stores.map(everything));
    for (const other of others) expect(other).toEqual(kept);
  }
  // Enough queries must succeed: errors would be the same on any store.
  expect(answered).toBeGreaterThan(CASES / 4);
});
