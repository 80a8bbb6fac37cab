/** Counts the requests to a store for one query. */
import { expect, test } from 'vitest';
import { documentKey } from '../../codec/key.ts';
import { isInRange } from '../../codec/ranges.ts';
import { FIRST_USER_COLLECTION } from '../../values/native-kinds.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { Range, ReadTx, Store } from '../../store/port.ts';
import { coll, create, doc, obj, type Query } from '../testing/engine-world.ts';
import { createTestEngine } from '../testing/fuzz-world.ts';
import { range } from '../testing/large-values.ts';
import { outcome } from '../testing/outcomes.ts';

interface Requests {
  transactions: number;
  fetches: number;
  ranges: number;
}

/** @param onRange called with each requested range */
function countingStore(onRange: (range: Range) => void = () => undefined): {
  readonly store: Store;
  readonly requests: Requests;
} {
  const inner = createMemoryStore();
  const requests = { transactions: 0, fetches: 0, ranges: 0 };
  const counted = (tx: ReadTx): ReadTx => ({
    fetch: (...asked) => {
      requests.fetches += 1;
      requests.ranges += asked[1].length;
      asked[1].forEach(onRange);
      return tx.fetch(...asked);
    },
  });
  const store: Store = {
    read: (body, options) => {
      requests.transactions += 1;
      return inner.read((tx) => body(counted(tx)), options);
    },
    write: (body, options) => {
      requests.transactions += 1;
      return inner.write((tx) => body({ ...tx, ...counted(tx) }), options);
    },
    close: () => inner.close(),
  };
  return { store, requests };
}

const DOCUMENTS = 64;
const people = { documents: coll('people') };
const eachDocument: Query = {
  map: { lambda: 'x', expr: { get: { var: 'x' } } },
  collection: { paginate: people, size: DOCUMENTS },
};
const tenGets: Query = {
  let: range(10).map((n) => ({ [`d${n}`]: { get: doc('people', n + 1) } })),
  in: range(10).map((n) => ({ select: ['data', 'n'], from: { var: `d${n}` } })),
};

/** A store with documents, and an engine that has cached the schema but no documents. */
async function opened() {
  const { store, requests } = countingStore();
  const first = createTestEngine({ store });
  await outcome(first, { create_collection: obj({ name: 'people' }) });
  const all = range(DOCUMENTS).map((n) => create(doc('people', n + 1), { n }));
  expect(await outcome(first, { do: [...all, 0] })).toEqual({ resource: 0 });
  const engine = createTestEngine({ store });
  await outcome(engine, { exists: doc('people', 999) });
  const requestsOf = async (query: Query): Promise<Requests> => {
    Object.assign(requests, { transactions: 0, fetches: 0, ranges: 0 });
    expect(await outcome(engine, query)).toHaveProperty('resource');
    return { ...requests };
  };
  return { engine, requestsOf };
}

test('a map over 64 documents takes at most two fetches, and when repeated only one', async () => {
  const { requestsOf } = await opened();
  expect((await requestsOf(eachDocument)).fetches).toBeLessThanOrEqual(2);
  expect(await requestsOf(eachDocument)).toMatchObject({ transactions: 1, fetches: 1 });
});

test('a let of ten gets takes one fetch', async () => {
  const { requestsOf } = await opened();
  expect(await requestsOf(tenGets)).toMatchObject({ transactions: 1, fetches: 1 });
  expect(await requestsOf(tenGets)).toMatchObject({ transactions: 1, fetches: 1 });
});

test('gets in an array or in an object take one fetch', async () => {
  const { requestsOf } = await opened();
  const gets = range(10).map((n) => ({ get: doc('people', n + 20) }));
  expect((await requestsOf(gets)).fetches).toBe(1);
  const members = Object.fromEntries(
    range(10).map((n) => [`m${n}`, { get: doc('people', n + 40) }]),
  );
  expect((await requestsOf(obj(members))).fetches).toBe(1);
});

test('under a lease, a repeated query makes no request to the store', async () => {
  const { store, requests } = countingStore();
  const engine = createTestEngine({ store, lease: { term: () => 1 } });
  await outcome(engine, { create_collection: obj({ name: 'people' }) });
  await outcome(engine, create(doc('people', 1), { n: 1 }));
  await outcome(engine, eachDocument);
  Object.assign(requests, { transactions: 0, fetches: 0, ranges: 0 });
  expect(await outcome(engine, eachDocument)).toHaveProperty('resource');
  expect(requests).toEqual({ transactions: 0, fetches: 0, ranges: 0 });
});

test('a hundred unique values are checked with at most two fetches', async () => {
  const { requestsOf } = await opened();
  await requestsOf({
    create_index: obj({
      name: 'people_by_mail',
      source: coll('people'),
      unique: true,
      terms: [obj({ field: ['data', 'mail'] })],
    }),
  });
  const createAll = (from: number): Query => ({
    do: range(100).map((n) => create(doc('people', from + n), { mail: `m${from + n}` })),
  });
  await requestsOf(createAll(1000));
  expect((await requestsOf(createAll(2000))).fetches).toBeLessThanOrEqual(2);
});

test('creating a hundred documents with given ids looks for their tokens and passwords in at most two ranges', async () => {
  const { requestsOf } = await opened();
  const createAll = (from: number): Query => ({
    do: range(100).map((n) => create(doc('people', from + n), { n })),
  });
  await requestsOf(createAll(1000));
  expect((await requestsOf(createAll(2000))).ranges).toBeLessThanOrEqual(2);
});

test('a large commit of another engine does not clear the cache, and changed rows are read again', async () => {
  const { store, requests } = countingStore();
  const engine = createTestEngine({ store });
  const other = createTestEngine({ store });
  await outcome(engine, { create_collection: obj({ name: 'people' }) });
  const all = range(10).map((n) => create(doc('people', n + 1), { n }));
  await outcome(engine, { do: [...all, 0] });
  await outcome(engine, tenGets);
  const group = (from: number) => range(40).map((n) => create(doc('people', from + n), { n }));
  await outcome(other, { do: [...group(1000), 0] });
  Object.assign(requests, { transactions: 0, fetches: 0, ranges: 0 });
  expect(await outcome(engine, tenGets)).toHaveProperty('resource');
  expect(requests).toMatchObject({ transactions: 1, fetches: 1 });
  // More changes than the head row can list.
  const changed = { update: doc('people', 1), params: obj({ data: obj({ n: -1 }) }) };
  await outcome(other, { do: [changed, ...group(2000), ...group(3000), ...group(4000), 0] });
  const first = { select: ['data', 'n'], from: { get: doc('people', 1) } };
  expect(await outcome(engine, first)).toEqual({ resource: -1 });
});

test('reading the first document of a queue does not request the range of deleted ones', async () => {
  const passed: string[] = [];
  let gone = 0;
  const { store } = countingStore(({ by, ...between }) => {
    const isPassed = (n: number) =>
      by === 'key' && isInRange(documentKey(0, FIRST_USER_COLLECTION, BigInt(n)), between);
    passed.push(
      ...range(DOCUMENTS)
        .filter((n) => n < gone && isPassed(n))
        .map(String),
    );
  });
  const engine = createTestEngine({ store });
  await outcome(engine, { create_collection: obj({ name: 'people' }) });
  const all = range(DOCUMENTS).map((n) => create(doc('people', n), { n }));
  await outcome(engine, { do: [...all, 0] });
  for (const n of range(DOCUMENTS)) {
    // The most recently deleted document is where the uncached rest of the range begins.
    gone = n - 1;
    const first = { select: ['data', 0], from: { paginate: people, size: 1 } };
    const id = { select: 'id', from: first };
    expect(await outcome(engine, id)).toEqual({ resource: String(n) });
    await outcome(engine, { delete: doc('people', n) });
  }
  expect(passed).toEqual([]);
});
