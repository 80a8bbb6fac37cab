import { expect, test } from 'vitest';
import { decodeDocumentKey, documentKey, keyOfBytes } from '../../../src/codec/key.ts';
import { EVERY_KEY } from '../../../src/codec/ranges.ts';
import { SEQUENCES } from '../../../src/engine/documents.ts';
import { coll, create, doc, EngineWorld, obj } from '../../../src/engine/testing/engine-world.ts';
import { createMemoryStore, SharedMemory } from '../../../src/store/memory.ts';
import type { Row } from '../../../src/store/port.ts';
import { isNative } from '../../../src/values/native-kinds.ts';
import { LostSchema } from './lost-schema.ts';

const everything = { ...EVERY_KEY, limit: Infinity, reverse: false };
const isOfSchema = ({ key }: Row): boolean => isNative(decodeDocumentKey(key).collection);

/** The result of salvaging a store in which the rows that match `isLost` could not be read. */
async function salvaged(
  memory: SharedMemory,
  isLost: (row: Row) => boolean,
): Promise<{ readonly world: EngineWorld; readonly names: readonly string[] }> {
  const lost = new LostSchema();
  const store = createMemoryStore();
  for (const space of ['documents', 'history', 'meta'] as const) {
    const all = memory.version[space].keys.within(everything).flatMap(({ row }) => row ?? []);
    const rows = space === 'documents' ? all.filter((row) => !isLost(row)) : all;
    lost.add({ space, rows });
    await put(store, rows, space);
  }
  const { rows, names } = lost.withNewNames();
  await put(store, rows, 'documents');
  return { world: new EngineWorld(store), names };
}

const put = (
  store: ReturnType<typeof createMemoryStore>,
  rows: readonly Row[],
  space: 'documents' | 'history' | 'meta',
): Promise<void> =>
  store.write(async (tx) => tx.apply({ puts: rows.map((row) => ({ space, row })), deletes: [] }), {
    durability: 'relaxed',
  });

const count = (name: string) => ({ count: { documents: coll(name) } });

async function filled(): Promise<{ readonly memory: SharedMemory; readonly world: EngineWorld }> {
  const memory = new SharedMemory();
  const world = new EngineWorld(createMemoryStore(memory));
  for (const name of ['jars', 'pots', 'gone'])
    await world.ask({ create_collection: obj({ name }) });
  const terms = [obj({ field: ['data', 'n'] })];
  await world.ask({ create_index: obj({ name: 'by_n', source: coll('jars'), terms }) });
  for (let n = 1; n <= 3; n += 1) await world.ask(create(doc('jars', n), { n }));
  await world.ask(create(doc('pots', 1), { jar: doc('jars', 2) }));
  await world.ask(create(doc('gone', 1), {}));
  await world.ask({ delete: coll('gone') });
  return { memory, world };
}

test('documents of a collection that has lost its name are salvaged under its number, and not removed as expired', async () => {
  const { memory } = await filled();
  const { world, names } = await salvaged(memory, isOfSchema);
  expect(names).toEqual(['salvaged_1024', 'salvaged_1025']);
  world.now += 100 * 86_400_000_000;
  await world.engine.collectExpiredData();
  expect(await world.ask(count('salvaged_1024'))).toBe(3);
  expect(await world.ask({ get: doc('salvaged_1025', 1) })).toMatchObject({
    data: { jar: { '@ref': { id: '2', collection: { '@ref': { id: 'salvaged_1024' } } } } },
  });
  await world.ask({ update: coll('salvaged_1024'), params: obj({ name: 'jars' }) });
  expect(await world.ask(count('jars'))).toBe(3);
  expect(await world.engine.verify()).toEqual([]);
});

test('the numbers of lost collections and indexes are not given to new ones', async () => {
  const { memory } = await filled();
  const { world } = await salvaged(memory, isOfSchema);
  await world.ask({ create_collection: obj({ name: 'new' }) });
  expect(await world.ask(count('new'))).toBe(0);
  const terms = [obj({ field: ['data', 'm'] })];
  await world.ask({ create_index: obj({ name: 'by_m', source: coll('new'), terms }) });
  expect(await world.ask({ count: { match: { index: 'by_m' }, terms: 1 } })).toBe(0);
});

test('a child database that has lost its name becomes a child of the root database, with its data', async () => {
  const memory = new SharedMemory();
  const before = new EngineWorld(createMemoryStore(memory));
  await before.ask({ create_database: obj({ name: 'below' }) });
  const { secret } = await before.document({
    create_key: obj({ role: 'admin', database: { database: 'below' } }),
  });
  await before.ask({ create_collection: obj({ name: 'jars' }) }, { secret });
  await before.ask(create(doc('jars', 1), {}), { secret });
  const inRoot = ({ key }: Row) => decodeDocumentKey(key).database === 0;
  const { world, names } = await salvaged(memory, (row) => inRoot(row) && isOfSchema(row));
  const [name = ''] = names;
  expect(names).toEqual([expect.stringMatching(/^salvaged_\d+$/)]);
  await world.engine.collectExpiredData();
  const key = await world.document({
    create_key: obj({ role: 'admin', database: { database: name } }),
  });
  expect(await world.ask(count('jars'), key)).toBe(1);
});

test('unreadable rows do not keep LostSchema from finding lost collections in others', async () => {
  const { memory } = await filled();
  const lost = new LostSchema();
  const unreadable = [
    { key: keyOfBytes('no key of a document'), entries: [], value: '' },
    { key: documentKey(0, SEQUENCES, 1n), entries: [], value: 'no version' },
  ];
  for (const space of ['documents', 'history'] as const) {
    const all = memory.version[space].keys.within(everything).flatMap(({ row }) => row ?? []);
    const rows = space === 'documents' ? all.filter((row) => !isOfSchema(row)) : all;
    lost.add({ space, rows: [...unreadable, ...rows] });
  }
  expect(lost.withNewNames().names).toEqual(['salvaged_1024', 'salvaged_1025']);
});
