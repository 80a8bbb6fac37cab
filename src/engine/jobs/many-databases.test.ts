/** Background jobs at a hub with many databases: each step looks at few of them, because queries wait while it is evaluated. */
import { expect, test } from 'vitest';
import { indexPrefix, LOWEST_KEY, type Key } from '../../codec/key.ts';
import { EVERY_KEY } from '../../codec/ranges.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { scan } from '../../store/scan.ts';
import { watchedReads } from '../../store/testing/watched-reads.ts';
import { livingDatabases, ROOT_DATABASE } from '../catalog/databases.ts';
import { NATIVE_INDEX } from '../catalog/native-indexes.ts';
import { EngineWorld, ROOT, coll, create, obj } from '../testing/engine-world.ts';
import { range } from '../testing/large-values.ts';
import type { DatabaseId } from '../../values/value.ts';

const DATABASES = 300;
/** A step of a job lists at most this many databases. */
const LISTED_MAX = 64 + 1;
/** A step of a job reads at most this many ranges: those of the schemas of 64 databases, with room for a few more. */
const RANGES_MAX = 64 * 8;

const name = (n: number): string => `d${n}`;
const childOf = (database: string) => ({ secret: `${ROOT}:${database}:admin` });

const DATABASES_INDEX = indexPrefix(ROOT_DATABASE, NATIVE_INDEX.databases);

/** The numbers of all databases, `count` at a time. */
async function databasesOf(w: EngineWorld, count = 64): Promise<readonly DatabaseId[]> {
  const all: DatabaseId[] = [];
  let from: Key | undefined = LOWEST_KEY;
  while (from !== undefined) {
    const at: Key = from;
    const { value } = await w.engine.transactions.read(({ writer }) => ({
      value: livingDatabases(writer, at, count),
    }));
    all.push(...value.some);
    from = value.next;
  }
  return all;
}

/** An engine with many child databases, and counts of the ranges that a second engine on the same store reads. */
async function world() {
  const store = createMemoryStore();
  const asked = { rangesPerRead: 0, ranges: 0, listed: 0 };
  const watched: Store = {
    ...store,
    read(body, options) {
      const before = asked.ranges;
      let listed = 0;
      const counted = watchedReads(store, (found, [, ranges]) => {
        asked.ranges += ranges.length;
        asked.rangesPerRead = Math.max(asked.rangesPerRead, asked.ranges - before);
        for (const [n, { lower }] of ranges.entries())
          if (lower.startsWith(DATABASES_INDEX)) listed += found.ranges[n]?.length ?? 0;
        asked.listed = Math.max(asked.listed, listed);
      });
      return counted.read(body, options);
    },
  };
  const first = new EngineWorld(store);
  const names = range(DATABASES).map(name);
  await first.ask({
    map: { lambda: 'name', expr: { create_database: obj({ name: { var: 'name' } }) } },
    collection: names,
  });
  /** Another engine, whose caches are empty. */
  const fresh = (): EngineWorld => {
    const w = new EngineWorld(watched);
    w.now = first.now;
    asked.rangesPerRead = 0;
    asked.ranges = 0;
    asked.listed = 0;
    return w;
  };
  return { first, fresh, asked };
}

const inDatabase = (n: number) => childOf(name(n));
const byN = obj({ name: 'by_n', source: coll('jars'), terms: obj({ field: ['data', 'n'] }) });
const match = { count: { match: { index: 'by_n' }, terms: 7 } };

/** Too many for an index to be built when it is created. */
async function fill(w: EngineWorld, n: number): Promise<void> {
  await w.ask({ create_collection: obj({ name: 'jars' }) }, inDatabase(n));
  await w.ask(
    {
      map: { lambda: 'n', expr: create(coll('jars'), { n: { var: 'n' } }) },
      collection: range(140),
    },
    inDatabase(n),
  );
}

test('buildIndexes() builds the indexes of all databases, and looks at few databases at once', async () => {
  const { first, fresh, asked } = await world();
  const some = [0, 150, DATABASES - 1];
  for (const n of some) {
    await fill(first, n);
    await first.ask({ create_index: byN }, inDatabase(n));
    expect((await first.fault(match, inDatabase(n))).status).toBe(400);
  }
  const w = fresh();
  await w.engine.buildIndexes();
  expect(asked.rangesPerRead).toBeLessThan(RANGES_MAX);
  expect(asked.listed).toBeLessThanOrEqual(LISTED_MAX);
  for (const n of some) expect(await w.ask(match, inDatabase(n))).toBe(1);
  expect(await w.engine.verify()).toEqual([]);
});

test('buildIndexes() of one database reads nothing of the others', async () => {
  const { first, fresh, asked } = await world();
  for (const n of [3, 4]) {
    await fill(first, n);
    await first.ask({ create_index: byN }, inDatabase(n));
  }
  // The first is the root.
  const id = (await databasesOf(first)).at(1 + 3) ?? 0;
  const w = fresh();
  await w.engine.buildIndexes({ databases: [id] });
  expect(asked.ranges).toBeLessThan(100);
  expect(await w.ask(match, inDatabase(3))).toBe(1);
  expect((await w.fault(match, inDatabase(4))).status).toBe(400);
});

test('collectExpiredData() removes the rows of deleted collections, indexes and databases among many, a few at once', async () => {
  const { first, fresh, asked } = await world();
  const some = [0, 63, 64, 150, DATABASES - 1];
  for (const n of some) await fill(first, n);
  for (const n of some) await first.ask({ create_index: byN }, inDatabase(n));
  await first.engine.buildIndexes();
  await first.ask({ delete: { index: 'by_n' } }, inDatabase(0));
  await first.ask({ delete: { collection: 'jars' } }, inDatabase(63));
  await first.ask({ delete: { collection: 'jars' } }, inDatabase(DATABASES - 1));
  await first.ask({ delete: { database: name(64) } });
  first.now += 3 * 86_400 * 1_000_000;
  await first.ask({ create_role: obj({ name: 'later' }) });
  const w = fresh();
  await w.engine.collectExpiredData();
  expect(asked.rangesPerRead).toBeLessThan(RANGES_MAX);
  expect(asked.listed).toBeLessThanOrEqual(LISTED_MAX);
  const { ranges } = await w.store.read((tx) => tx.fetch([], [scan('documents', EVERY_KEY, {})]));
  const jars = (ranges[0] ?? []).filter(({ row }) => String(row?.value).includes('"n":7}'));
  // Those of the databases 0 and 150.
  expect(jars).toHaveLength(2);
  expect(await w.ask(match, inDatabase(150))).toBe(1);
  expect(await w.engine.verify()).toEqual([]);
});

test('livingDatabases() returns nested databases in ascending order, without those of a deleted one', async () => {
  const w = new EngineWorld();
  for (const [child, within] of [['a'], ['b'], ['c', 'a']] as const)
    await w.ask(
      { create_database: obj({ name: child }) },
      within === undefined ? {} : childOf(within),
    );
  // A step may begin and end at any database.
  const [root, a, b, c, ...more] = await databasesOf(w, 2);
  expect([root, more]).toEqual([0, []]);
  expect([a, b, c].map(Number).toSorted((one, other) => one - other)).toEqual([a, b, c]);
  const moved = { database: 'c', scope: { database: 'a' } };
  await w.ask({ create_database: obj({ name: 'd' }) });
  const d = (await databasesOf(w, 1)).at(-1);
  await w.ask({ move_database: moved, to: { database: 'd' } });
  expect(await databasesOf(w, 1)).toEqual([0, a, b, c, d]);
  await w.ask({ delete: { database: 'a' } });
  expect(await databasesOf(w, 1)).toEqual([0, b, c, d]);
  await w.ask({ delete: { database: 'd' } });
  expect(await databasesOf(w, 1)).toEqual([0, b]);
});
