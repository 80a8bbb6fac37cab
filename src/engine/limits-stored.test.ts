/** Limits on written and stored data: each is tested through queries, at the limit and one past it. Spec: values 12. */
import { expect, test } from 'vitest';
import { entryKey } from '../codec/key.ts';
import { LIMITS } from '../limits.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { Store } from '../store/port.ts';
import { Ref } from '../values/value.ts';
import type { Engine } from './engine.ts';
import { coll, create, obj, type Query } from './testing/engine-world.ts';
import { createTestEngine } from './testing/fuzz-world.ts';
import { range, same } from './testing/large-values.ts';
import { outcome } from './testing/outcomes.ts';

const v = (name: string): Query => ({ var: name });
const people = coll('people');
const text = (chars: number): Query => ({
  let: { part: { repeat: { repeat: 'a', number: 16 }, number: 1024 } },
  in: { concat: [...same(Math.floor(chars / 16_384), v('part')), 'a'.repeat(chars % 16_384)] },
});

async function engineWith(...setUp: readonly Query[]): Promise<Engine> {
  const engine = createTestEngine();
  for (const query of [{ create_collection: obj({ name: 'people' }) }, ...setUp]) {
    expect(await outcome(engine, query)).toHaveProperty('resource');
  }
  return engine;
}

async function expectEdge(
  engine: Engine,
  edge: Query,
  past: Query,
  refused: string,
): Promise<void> {
  expect(await outcome(engine, past)).toEqual({ refused });
  expect(await outcome(engine, edge)).toHaveProperty('resource');
}

/** Bytes of a row apart from the text in `data.a`: the header line and the surrounding fields. */
async function bytesAroundText(): Promise<number> {
  const store = createMemoryStore();
  const engine = createTestEngine({ store });
  await outcome(engine, { create_collection: obj({ name: 'people' }) });
  await outcome(engine, create({ ref: people, id: '1' }, { a: 'x' }));
  return (await rowLength(store, '"x"')) - 1;
}

async function rowLength(store: Store, holds: string): Promise<number> {
  const { ranges } = await store.read((tx) =>
    tx.fetch(
      [],
      [
        {
          space: 'documents',
          by: 'key',
          lower: '' as never,
          upper: '\xff' as never,
          reverse: false,
          limit: 1000,
          rows: true,
        },
      ],
    ),
  );
  const values = (ranges[0] ?? []).map(({ row }) => String(row?.value));
  return values.find((value) => value.includes(holds))?.length ?? 0;
}

test('a document with too many bytes is refused', async () => {
  const engine = await engineWith();
  const around = await bytesAroundText();
  const queryOf = (bytes: number) => ({
    do: [create({ ref: people, id: '2' }, { a: text(bytes - around) }), 0],
  });
  const most = LIMITS.documentBytes;
  await expectEdge(engine, queryOf(most), queryOf(most + 1), 'bad request');
});

test('a transaction is refused as soon as it exceeds its limit of bytes', async () => {
  const engine = await engineWith();
  const around = (await bytesAroundText()) + 16;
  const half = 4 * 1024 * 1024;
  const queryOf = (bytes: number) => ({
    do: [
      ...range(3).map((n) => create({ ref: people, id: String(n) }, { a: text(half - around) })),
      create({ ref: people, id: '9' }, { a: text(bytes - 3 * half - around) }),
      0,
    ],
  });
  const most = LIMITS.transactionBytes;
  await expectEdge(engine, queryOf(most), queryOf(most + 1), 'bad request');
  // The query is refused as soon as the limit is exceeded, not after all writes.
  const endless = {
    foreach: { lambda: '_', expr: create(people, { a: text(half) }) },
    collection: range(1000),
  };
  expect(await outcome(engine, endless)).toEqual({ refused: 'bad request' });
  expect(await outcome(engine, { count: { documents: people } })).toEqual({ resource: 4 });
});

test('a transaction with too many documents is refused', async () => {
  const engine = await engineWith();
  const queryOf = (count: number) => ({
    do: [{ foreach: { lambda: '_', expr: create(people) }, collection: range(count) }, 0],
  });
  const most = LIMITS.transactionDocuments;
  await expectEdge(engine, queryOf(most), queryOf(most + 1), 'bad request');
});

test('a document with too many nested levels is refused', async () => {
  const engine = await engineWith();
  const nested = (depth: number): Query => ({
    let: {
      deep: {
        reduce: { lambda: ['all', '_'], expr: [v('all')] },
        initial: 0,
        collection: range(depth),
      },
    },
    in: { do: [create(people, { a: v('deep') }), 0] },
  });
  // The value is nested in the fields of the document and in `data`, and these levels count too.
  const most = LIMITS.jsonDepth - 2;
  await expectEdge(engine, nested(most), nested(most + 1), 'bad request');
  const stored = {
    select: [0, 'data', 'a'],
    from: {
      select: 'data',
      from: {
        map: { lambda: 'x', expr: { get: v('x') } },
        collection: { paginate: { documents: people } },
      },
    },
  };
  const found = await outcome(engine, stored);
  expect(JSON.stringify(found)).toContain('['.repeat(most));
});

test('an index term, value or entry with too many bytes is refused', async () => {
  const index = (name: string, more: Record<string, unknown>) => ({
    create_index: obj({ name, source: people, ...more }),
  });
  const field = (name: string) => obj({ field: ['data', name] });
  const engine = await engineWith(
    index('by_a', { terms: [field('a')] }),
    index('all', { values: ['b', 'c', 'd'].map(field) }),
  );
  const put = (data: Record<string, unknown>) => ({ do: [create(people, data), 0] });
  const chars = (count: number) => 'a'.repeat(count);
  // An encoded text has a tag before it and two bytes after it.
  const most = LIMITS.indexComponentBytes - 3;
  await expectEdge(engine, put({ a: chars(most) }), put({ a: chars(most + 1) }), 'bad request');
  const match = (count: number) => ({ exists: { match: { index: 'by_a' }, terms: chars(count) } });
  await expectEdge(engine, match(most), match(most + 1), 'bad request');
  await expectEdge(engine, put({ b: chars(most) }), put({ b: chars(most + 1) }), 'bad request');
  const rest = LIMITS.indexEntryBytes - 2 * 30_000 - ENTRY_AROUND;
  const three = (count: number) => put({ b: chars(30_000), c: chars(30_000), d: chars(count) });
  await expectEdge(engine, three(rest), three(rest + 1), 'bad request');
});

/** The entry of three empty texts. */
const ENTRY_AROUND = entryKey({
  database: 0,
  index: 32_768,
  terms: [],
  values: ['', '', ''],
  reverse: [],
  ref: new Ref(0, 1024, 1n),
}).length;

test('the size of a page has a maximum and a default', async () => {
  const limits: number[] = [];
  const store = createMemoryStore();
  const engine = createTestEngine({
    store: {
      ...store,
      read: (body, options) =>
        store.read((tx) => {
          const fetch: typeof tx.fetch = (rows, ranges) => {
            limits.push(...ranges.map(({ limit }) => limit));
            return tx.fetch(rows, ranges);
          };
          return body({ fetch });
        }, options),
    },
  });
  await outcome(engine, { create_collection: obj({ name: 'people' }) });
  const most = LIMITS.pageSizeMax;
  for (const size of [most, most + 1, 9_000_000_000_000]) {
    limits.length = 0;
    await outcome(engine, { paginate: { documents: people }, size });
    expect(Math.max(...limits)).toBeLessThanOrEqual(most + 1);
  }
  limits.length = 0;
  await outcome(engine, { paginate: { documents: people }, ts: 1 });
  // The contents of the other collection are cached by now.
  await outcome(engine, { create_collection: obj({ name: 'animals' }) });
  await outcome(engine, { paginate: { documents: { collection: 'animals' } } });
  expect(limits).toContain(LIMITS.pageSizeDefault + 1);
});

test('a name that is too long, is reserved or contains other characters is refused', async () => {
  const engine = await engineWith();
  const named = (name: string) => ({ do: [{ create_collection: obj({ name }) }, 0] });
  const most = LIMITS.nameChars;
  const long = (chars: number) => '𝒳'.repeat(chars);
  await expectEdge(engine, named(long(most)), named(long(most + 1)), 'bounds error of name');
  await expectEdge(engine, named(';@+$-_.!~%é7'), named('a b'), 'invalid characters of name');
  await expectEdge(engine, named('__'), named('_'), 'reserved name of name');
  for (const name of ['', 'a\0', 'a/b', 'a"b']) {
    expect(await outcome(engine, named(name))).toEqual({ refused: 'invalid characters of name' });
  }
});

test('a password that is too long or contains a null character is refused', async () => {
  const engine = await engineWith();
  const put = (password: string) => ({
    do: [create(people, {}, { credentials: obj({ password }) }), 0],
  });
  const most = LIMITS.passwordBytes;
  const past = (await outcome(engine, put('é'.repeat(most / 2) + 'a'))) as { refused: string };
  expect(past.refused).toMatch(/password/);
  expect(await outcome(engine, put('é'.repeat(most / 2)))).toEqual({ resource: 0 });
  expect(await outcome(engine, put('a\0'))).toEqual(past);
});

test('too many partitions of an index, or roles of a collection, are refused', async () => {
  const engine = await engineWith();
  const index = (partitions: number) => ({
    do: [{ create_index: obj({ name: `i${partitions}`, source: people, partitions }) }, 0],
  });
  await expectEdge(engine, index(8), index(9), 'bounds error of partitions');
  await expectEdge(engine, index(1), index(0), 'bounds error of partitions');
  const role = (n: number) => ({
    do: [
      {
        create_role: obj({
          name: `r${n}`,
          privileges: [],
          membership: [obj({ resource: people })],
        }),
      },
      0,
    ],
  });
  for (const n of range(63)) await outcome(engine, role(n));
  expect(await outcome(engine, role(64))).toEqual({ resource: 0 });
  expect(await outcome(engine, role(65))).toMatchObject({
    refused: expect.stringMatching(/of membership/),
  });
});
