/** Q3 to Q5: laws that hold for all queries: laws of sets and pages, round trips, and failures without side effects. */
import { expect, test } from 'vitest';
import { parseJson, stringifyJson, type Json } from '../codec/json.ts';
import { FailingStore } from '../store/testing/failing-store.ts';
import { createMemoryStore } from '../store/memory.ts';
import { SPACES, type Store } from '../store/port.ts';
import type { Key } from '../codec/key.ts';
import type { Engine } from './engine.ts';
import { RandomSource, seedOf } from './testing/random-source.ts';
import { coll, obj, type Query } from './testing/engine-world.ts';
import { askText, createTestEngine } from './testing/fuzz-world.ts';
import { ModelQueries } from './testing/model/model-queries.ts';
import { outcome } from './testing/outcomes.ts';
import { form, textOf, type Part } from './testing/query-text.ts';

const CASES = Number(process.env['BURROW_LAW_CASES'] ?? 300);
const SEED = seedOf('BURROW_LAW_SEED');

const INDEXES = [
  { name: 'i0', collection: 'c', terms: ['a'], values: [], unique: false },
  {
    name: 'i1',
    collection: 'c',
    terms: [],
    values: [
      { field: 'a', reverse: true },
      { field: 'ref', reverse: false },
    ],
    unique: false,
  },
  {
    name: 'i2',
    collection: 'c',
    terms: [],
    values: [{ field: 'b', reverse: false }],
    unique: false,
  },
];

async function openWorld(store: Store, random: RandomSource, writes = 20) {
  const engine = createTestEngine({ store });
  const queries = new ModelQueries(random, INDEXES);
  for (const name of ['c', 'd']) await outcome(engine, { create_collection: obj({ name }) });
  for (const { name, terms, values } of INDEXES) {
    const fieldOf = (field: string) => (field === 'ref' ? 'ref' : ['data', field]);
    const params = {
      name,
      source: coll('c'),
      terms: terms.map((field) => obj({ field: fieldOf(field) })),
      values: values.map(({ field, reverse }) => obj({ field: fieldOf(field), reverse })),
    };
    expect(await outcome(engine, { create_index: obj(params) })).toHaveProperty('resource');
  }
  for (let n = 0; n < writes; n += 1) await askText(engine, textOf(queries.write(0)));
  return { engine, queries };
}

const resourceOf = async (engine: Engine, query: Part): Promise<unknown> => {
  const { body } = await askText(engine, textOf(query));
  return JSON.parse(body) as unknown;
};

const READS = /"(?:create|update|replace|delete|get|exists|paginate|count|at)"/;
const WRITES = /"(?:create|update|replace|delete)"/;

/** Makes queries until one contains none of these forms, by default no writes. */
function without(make: () => Part, forms = WRITES): Part {
  let part = make();
  while (forms.test(textOf(part))) part = make();
  return part;
}

interface Page {
  readonly resource?: {
    readonly data: readonly unknown[];
    readonly after?: unknown;
  };
}

type Answer = ReadonlyMap<string, Json>;

/** All elements, read page by page as exact text, which is also used for the cursors. */
async function allOf(engine: Engine, set: Part, size: number): Promise<Json[]> {
  const all: Json[] = [];
  let after = '';
  for (let pages = 0; pages < 200; pages += 1) {
    const query = `{"paginate":${textOf(set)},"size":${size}${after}}`;
    const page = (parseJson((await askText(engine, query)).body) as Answer).get(
      'resource',
    ) as Answer;
    all.push(...(page.get('data') as readonly Json[]));
    const next = page.get('after');
    if (next === undefined) return all;
    after = `,"after":${stringifyJson(next)}`;
  }
  throw new Error('pages without an end');
}

test(`random sets obey the laws of sets, and their pages add up to all elements (BURROW_LAW_SEED=${SEED})`, async () => {
  const randomSource = new RandomSource(SEED);
  let seen = 0;
  for (let n = 0; n < CASES / 10; n += 1) {
    const { engine, queries } = await openWorld(createMemoryStore(), randomSource);
    for (let each = 0; each < 10; each += 1) {
      const set = without(() => queries.set(2));
      const detail = `seed ${SEED}: ${textOf(set)}`;
      const whole = await resourceOf(engine, form({ paginate: set, size: 1000 }));
      const same = async (other: Part) => {
        const query = form({ paginate: other, size: 1000 });
        expect(await resourceOf(engine, query), `${detail}\n${textOf(other)}`).toEqual(whole);
      };
      const { resource } = whole as Page;
      if (!resource) continue;
      if (resource.data.length > 1) seen += 1;
      await same(form({ union: [set, set] }));
      await same(form({ intersection: [set, set] }));
      await same(form({ reverse: form({ reverse: set }) }));
      await same(form({ at: form({ now: null }), expr: set }));
      expect(
        await resourceOf(
          engine,
          form({ at: form({ now: null }), expr: form({ paginate: set, size: 1000 }) }),
        ),
        detail,
      ).toEqual(whole);
      expect(await resourceOf(engine, form({ count: set })), detail).toEqual({
        resource: resource.data.length,
      });
      const difference = form({ paginate: form({ difference: [set, set] }) });
      expect(await resourceOf(engine, difference), detail).toEqual({ resource: { data: [] } });
      const reversed = (await resourceOf(
        engine,
        form({ paginate: form({ reverse: set }), size: 1000 }),
      )) as Page;
      expect(reversed.resource?.data.toReversed(), detail).toEqual(resource.data);
      const exact = await allOf(engine, set, 1000);
      for (const size of [1, 2, 3]) {
        expect(await allOf(engine, set, size), detail).toEqual(exact);
      }
    }
  }
  expect(seen).toBeGreaterThan(CASES / 20);
});

test('an additional index changes no answer', async () => {
  const randomSource = new RandomSource(SEED);
  for (let n = 0; n < CASES / 30; n += 1) {
    const { engine, queries } = await openWorld(createMemoryStore(), randomSource);
    const asked = Array.from({ length: 20 }, () => without(() => queries.query()));
    const before = await Promise.all(asked.map((query) => resourceOf(engine, query)));
    await outcome(engine, {
      create_index: obj({
        name: 'more',
        source: coll('c'),
        terms: [obj({ field: ['data', 'b'] })],
      }),
    });
    const after = await Promise.all(asked.map((query) => resourceOf(engine, query)));
    expect(after).toEqual(before);
  }
});

test(`values read from rows and from index keys equal the values written (BURROW_LAW_SEED=${SEED})`, async () => {
  const randomSource = new RandomSource(SEED);
  const { engine, queries } = await openWorld(createMemoryStore(), randomSource, 0);
  const at = (query: Query) => `{"select":["data","a"],"from":${JSON.stringify(query)}}`;
  for (let n = 0; n < CASES; n += 1) {
    const value = textOf(without(() => queries.plain(2), READS));
    const told = async (query: string) => (await askText(engine, query)).body;
    const plain = await told(
      `{"select":["data","a"],"from":{"create":{"collection":"c"},"params":{"object":{"data":{"object":{"a":${value}}}}}},"default":null}`,
    );
    if (!plain.startsWith('{"resource"') || plain === '{"resource":null}') continue;
    const id = n + 1;
    const put = `{"do":[{"create":{"ref":{"collection":"d"},"id":"${id}"},"params":{"object":{"data":{"object":{"a":${value}}}}}},0]}`;
    expect(await told(put), value).toBe('{"resource":0}');
    expect(await told(at({ get: { ref: coll('d'), id: String(id) } })), value).toBe(plain);
    const isScalar = !/^\{"resource":[[{]/.test(plain);
    if (!isScalar) continue;
    const inKey = `{"select":["data",0],"from":{"paginate":{"match":{"index":"i1"}}}}`;
    const alone = `{"do":[{"foreach":{"lambda":"x","expr":{"delete":{"var":"x"}}},"collection":{"paginate":{"documents":{"collection":"c"}}}},{"create":{"ref":{"collection":"c"},"id":"1"},"params":{"object":{"data":{"object":{"a":${value}}}}}},0]}`;
    expect(await told(alone), value).toBe('{"resource":0}');
    const [shown] = [await told(inKey)];
    expect(
      shown.startsWith(`{"resource":[${plain.slice('{"resource":'.length, -1)},`),
      `${value}: ${shown}`,
    ).toBe(true);
    const match = `{"count":{"match":{"index":"i0"},"terms":[${value}]}}`;
    expect(await told(match), value).toBe('{"resource":1}');
  }
});

async function dump(store: Store): Promise<unknown> {
  const ranges = SPACES.map((space) => ({
    space,
    by: 'key' as const,
    lower: '' as Key,
    upper: '\u00ff'.repeat(8) as Key,
    reverse: false,
    limit: 100_000,
    rows: true,
  }));
  return (await store.read((tx) => tx.fetch([], ranges))).ranges;
}

test(`a query that fails at any call of the store leaves no changes (BURROW_LAW_SEED=${SEED}) (L1)`, async () => {
  const randomSource = new RandomSource(SEED);
  let failed = 0;
  const inner = createMemoryStore();
  const store = new FailingStore(inner);
  const { queries } = await openWorld(store, randomSource);
  for (let n = 0; n < CASES / 3; n += 1) {
    const text = textOf(queries.write(0));
    for (let k = 1; ; k += 1) {
      // A new engine has an empty cache, so it makes all calls of the store.
      const engine = createTestEngine({ store });
      const before = await dump(inner);
      store.failNth(k);
      const { status, body } = await askText(engine, text);
      const isReached = store.calls >= k;
      store.failNth(undefined);
      if (!isReached) break;
      failed += 1;
      expect([status, body.includes('storage_unavailable')], text).toEqual([503, true]);
      expect(await dump(inner), text).toEqual(before);
      // The engine still works.
      expect(await outcome(engine, { add: [1, 1] })).toEqual({ resource: 2 });
    }
  }
  expect(failed).toBeGreaterThan(CASES / 3);
});
