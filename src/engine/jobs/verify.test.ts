import { expect, test } from 'vitest';
import {
  after,
  collectionPrefix,
  decodeHistoryEntry,
  historyEntryKey,
  type Key,
} from '../../codec/key.ts';
import { packVersion, unpackVersion } from '../../codec/row.ts';
import type { EntrySpace, Row, Store } from '../../store/port.ts';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';
import { FIRST_USER_COLLECTION } from '../../values/native-kinds.ts';

const ref = doc('dial', 1);
const change = (fields: Record<string, unknown>) => ({
  update: ref,
  params: obj({ data: obj(fields) }),
});

/** A document with two ended index entries and one that is still held. */
async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'dial', history_days: 10_000 }) });
  for (const name of ['s', 'n']) {
    const terms = obj({ field: ['data', name] });
    await w.ask({ create_index: obj({ name: `by_${name}`, source: coll('dial'), terms }) });
  }
  await w.ask(create(ref, { s: 'on', n: 1 }));
  await w.ask(change({ n: 2 }));
  await w.ask(change({ n: 3 }));
  return w;
}

/** The rows of collection `dial`, in the order of their keys. */
async function rowsOf(store: Store, space: EntrySpace): Promise<readonly Row[]> {
  const all = { space, by: 'key', reverse: false, limit: 10_000, rows: true } as const;
  const lower = collectionPrefix(0, FIRST_USER_COLLECTION);
  const range = { ...all, lower, upper: after(lower) };
  const { ranges } = await store.read((tx) => tx.fetch([], [range]));
  const isOfDial = ({ value }: Row) =>
    String(value).includes('"n"') || String(value).startsWith('d');
  return (ranges[0] ?? []).flatMap(({ row }) => row ?? []).filter(isOfDial);
}

/** The problems that a new engine reports after `damage` was done to one row of the store. */
async function problemsAfter(
  w: EngineWorld,
  space: EntrySpace,
  at: number,
  damage: (row: Row) => Row | undefined,
): Promise<readonly string[]> {
  const row = (await rowsOf(w.store, space)).at(at);
  if (!row) throw new Error(`no row ${at} in ${space}`);
  const damaged = damage(row);
  await w.store.write(
    (tx) => {
      tx.apply(
        damaged
          ? { puts: [{ space, row: damaged }], deletes: [] }
          : { puts: [], deletes: [{ space, key: row.key }] },
      );
      return Promise.resolve();
    },
    { durability: 'relaxed' },
  );
  return new EngineWorld(w.store).engine.verify();
}

/** The row with other times in its one ended entry. */
const heldAt =
  (times: (held: { added: number; removed: number }) => { added: number; removed: number }) =>
  (row: Row): Row => ({
    ...row,
    entries: row.entries.map((key) => {
      const { entry, ...held } = decodeHistoryEntry(key);
      const { added, removed } = times(held);
      return historyEntryKey(entry, added, removed);
    }),
  });

test.each<readonly [string, EntrySpace, number, (row: Row) => Row | undefined, RegExp]>([
  [
    'lacks an entry that ended with it',
    'history',
    0,
    (row) => ({ ...row, entries: [] }),
    /is missing the ended index entry/,
  ],
  [
    'has an entry that does not follow from its data',
    'history',
    1,
    (row) => ({
      ...row,
      entries: [...row.entries, historyEntryKey(`${row.entries[0]}` as Key, 1, 2)],
    }),
    /has the ended index entry .*, which does not follow from its versions/,
  ],
  [
    'has an entry that ended at another time than the version',
    'history',
    0,
    heldAt(({ added, removed }) => ({ added, removed: removed + 1 })),
    /is missing the ended index entry/,
  ],
  [
    'has an entry that began before the version that made it',
    'history',
    1,
    heldAt(({ added, removed }) => ({ added: added - 1, removed })),
    /is missing the ended index entry/,
  ],
  [
    'has an entry that is not a key',
    'history',
    1,
    (row) => ({ ...row, entries: ['x' as Key] }),
    /cannot be read/,
  ],
  [
    'has a lambda that is not a query',
    'documents',
    -1,
    (row) => {
      const lambda = { '@query': { v: '4', w: '"lambda":"_","expr":{"@set":{}}' } };
      const body = JSON.stringify({ data: { n: lambda } });
      return { ...row, value: packVersion({ ...unpackVersion(String(row.value)), body }) };
    },
    /cannot be read: Invalid set\.$/m,
  ],
  ['has no successor', 'documents', -1, () => undefined, /without a successor/],
  [
    'is current and has an entry with a wrong time',
    'documents',
    -1,
    (row) => {
      const version = unpackVersion(String(row.value));
      const added = row.entries.map(() => version.ts);
      return { ...row, value: packVersion({ ...version, added }) };
    },
    /has the index entry \w+ since \d+ instead of \d+/,
  ],
])('verify() finds a version that %s', async (_, space, at, damage, problem) => {
  const w = await world();
  expect(await w.engine.verify()).toEqual([]);
  const problems = await problemsAfter(w, space, at, damage);
  expect(problems).not.toEqual([]);
  expect(problems.join('\n')).toMatch(problem);
});

test('verify() finds a deletion that has index entries', async () => {
  const w = await world();
  await w.ask({ delete: ref });
  const [first] = await rowsOf(w.store, 'history');
  const problems = await problemsAfter(w, 'history', -1, (row) => ({
    ...row,
    entries: first?.entries ?? [],
  }));
  expect(problems.join('\n')).toMatch(/which does not follow from/);
});

test('verify() checks histories that are longer than one batch of reads', async () => {
  const w = await world();
  const changes = (from: number) =>
    Array.from({ length: 40 }, (_, i) => ({ n: from + i, s: `${i}` }));
  for (let n = 10; n < 1_300; n += 40)
    for (const each of changes(n)) await w.ask(change({ ...each, s: 'on' }));
  for (let id = 2; id < 300; id += 1) {
    await w.ask(create(doc('dial', id), { n: id, s: 'on' }));
    await w.ask({ delete: doc('dial', id) });
  }
  expect(await w.engine.verify()).toEqual([]);
  for (const at of [0, 31, 32, 94, 475, 476, 975, 1_100]) {
    const problems = await problemsAfter(w, 'history', at, (row) => ({ ...row, entries: [] }));
    expect(problems.join('\n')).toMatch(/is missing the ended index entry/);
  }
});

test('verify() reads large documents in small batches', async () => {
  const w = await world();
  const text = 'x'.repeat(100_000);
  for (let id = 2; id < 200; id += 1) await w.ask(create(doc('dial', id), { text }));
  const together: number[] = [];
  const store: Store = {
    ...w.store,
    read: (body, options) =>
      w.store.read(
        (tx) =>
          body({
            async fetch(...request) {
              const found = await tx.fetch(...request);
              together.push(...found.ranges.map((range) => range.length));
              return found;
            },
          }),
        options,
      ),
  };
  expect(await new EngineWorld(store).engine.verify()).toEqual([]);
  expect(Math.max(...together)).toBe(32);
});

test('verify() does not expect entries of an index that is being built, even if it was set active by hand', async () => {
  const w = await world();
  for (let id = 2; id < 200; id += 1) await w.ask(create(doc('dial', id), { n: id }));
  await w.ask(change({ n: 4 }));
  const terms = obj({ field: ['data', 'n'] });
  const index = obj({ name: 'late', source: coll('dial'), terms, active: true });
  await w.ask({ create_index: index });
  expect(await w.engine.verify()).toEqual([]);
  await w.engine.buildIndexes();
  expect(await w.engine.verify()).toEqual([]);
});

/** Runs `work` with a store that loses all document rows of its commits, as Firefox lost rows after an explicit commit. */
async function losingDocuments(w: EngineWorld, work: () => Promise<unknown>): Promise<void> {
  const write = w.store.write.bind(w.store);
  w.store.write = (body, options) =>
    write(
      (tx) =>
        body({
          fetch: (...asked) => tx.fetch(...asked),
          apply: ({ puts, deletes }) =>
            tx.apply({ puts: puts.filter(({ space }) => space !== 'documents'), deletes }),
        }),
      options,
    );
  await work();
  w.store.write = write;
}

test('verify() finds that the last commit of its own engine stored fewer versions than it made', async () => {
  const w = await world();
  await losingDocuments(w, () => w.ask(create(doc('dial', 2), { n: 1 })));
  expect((await w.engine.verify()).join('\n')).toMatch(
    /last commit, at \d+, stored 1 versions of documents, but only 0 of them exist/,
  );
});

test('verify() finds a lost update, also after later commits', async () => {
  const w = await world();
  await losingDocuments(w, () => w.ask(change({ n: 4 })));
  await w.ask(create(doc('dial', 2), { n: 1 }));
  expect((await w.engine.verify()).join('\n')).toMatch(
    /has the time \d+, which is not after that of the version it superseded/,
  );
});

test('verify() accepts a document with more index entries than one transaction may write', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  const empty = { create: coll('notes'), params: obj({}) };
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  await w.ask({ foreach: { lambda: '_', expr: empty }, collection: numbers });
  const tags = numbers.map((n) => `${n}${'x'.repeat(25_000)}`);
  await w.ask(create(doc('notes', '999999999999999999'), { tags }));
  for (const name of ['a', 'b', 'c', 'd']) {
    const terms = [obj({ field: ['data', 'tags'] })];
    await w.ask({ create_index: obj({ name, source: coll('notes'), terms }) });
    await w.engine.buildIndexes();
  }
  expect(await w.engine.verify()).toEqual([]);
});
