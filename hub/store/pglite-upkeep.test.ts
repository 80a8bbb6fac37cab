import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openPglite } from '../sql/pglite-database.ts';
import type { PgDatabase } from '../sql/pg-database.ts';
import { prepareFolder } from '../testing/prepared-pglite.ts';
import { runStatement } from '../testing/run-statement.ts';
import { dataIn } from './folder-lock.ts';
import { openHubStore } from './open-store.ts';
import type { SqlDatabase } from '../sql/sql-client.ts';
import { PgliteUpkeep } from './pglite-upkeep.ts';

let folder: string;
let database: PgDatabase;

beforeEach(async () => {
  folder = await prepareFolder(await mkdtemp(join(tmpdir(), 'burrow-upkeep-')));
  database = openPglite(dataIn(folder));
  await run('CREATE TABLE burrow_rows (key bigint PRIMARY KEY, body text)');
});

afterEach(async () => {
  vi.useRealTimers();
  await database.close();
  await rm(folder, { recursive: true });
});

const upkeepOf = (hasRoom: (bytes: number) => boolean = () => true) =>
  new PgliteUpkeep({ database, hasRoom, say: () => undefined });

const run = (text: string) => runStatement(database, text);

const ROWS = 10_000;

/** Inserts about 20 MB. */
const insert = (from: number) =>
  run(
    `INSERT INTO burrow_rows SELECT n, repeat(md5(n::text), 60) FROM generate_series(${from}, ${from + ROWS - 1}) n`,
  );

const tableBytes = async (): Promise<number> => {
  const [row] = await run("SELECT pg_relation_size('burrow_rows')");
  return Number(row?.[0]);
};

test('old log files are deleted, and all rows survive a kill', async () => {
  const upkeep = upkeepOf();
  for (let i = 0; i < 13; i += 1) {
    await insert(i * ROWS);
    await upkeep.work();
  }
  const files = (await readdir(join(dataIn(folder), 'pg_wal'))).filter(
    (name) => name.length === 24,
  );
  expect(files.length).toBeLessThan(13);
  const copy = await mkdtemp(join(tmpdir(), 'burrow-upkeep-copy-'));
  // A copy of the files as a kill would leave them: nothing was closed.
  await cp(dataIn(folder), dataIn(copy), { recursive: true });
  const own = database;
  database = openPglite(dataIn(copy));
  try {
    expect(await run('SELECT count(*) FROM burrow_rows')).toEqual([[String(13 * ROWS)]]);
  } finally {
    await database.close();
    database = own;
    await rm(copy, { recursive: true });
  }
});

test('the space of deleted rows is reused', async () => {
  const upkeep = upkeepOf();
  let atFirst = 0;
  for (let i = 0; i < 8; i += 1) {
    await insert(i * ROWS);
    await run(`DELETE FROM burrow_rows WHERE key < ${i * ROWS}`);
    // PostgreSQL counts dead rows at most once a second, and a fast machine is here again before that.
    await run('SELECT pg_stat_force_next_flush()');
    await upkeep.work();
    atFirst ||= await tableBytes();
  }
  expect(await tableBytes()).toBeLessThan(4 * atFirst);
});

test('a table is not vacuumed if the disk has no space for the log of that', async () => {
  const asked: number[] = [];
  const upkeep = upkeepOf((bytes) => {
    asked.push(bytes);
    return false;
  });
  await insert(0);
  await upkeep.work();
  expect(asked).toHaveLength(1);
  expect(asked[0]).toBeGreaterThanOrEqual(await tableBytes());
  expect(
    await run("SELECT last_vacuum FROM pg_stat_user_tables WHERE relname = 'burrow_rows'"),
  ).toEqual([[null]]);
});

test('without disk space there is no checkpoint', async () => {
  const redo = () => run('SELECT redo_lsn FROM pg_control_checkpoint()');
  let hasRoom = false;
  const upkeep = upkeepOf(() => hasRoom);
  for (let i = 0; i < 4; i += 1) await insert(i * ROWS);
  const before = await redo();
  await upkeep.work();
  expect(await redo()).toEqual(before);
  hasRoom = true;
  await upkeep.work();
  expect(await redo()).not.toEqual(before);
});

test('the log says which maintenance blocked queries, and for how long', async () => {
  const said: string[] = [];
  const slow: SqlDatabase = {
    isExclusive: true,
    roundTrips: 0,
    listen: () => undefined,
    close: () => Promise.resolve(),
    async connect() {
      const connection = await database.connect();
      return {
        release: () => connection.release(),
        async run(statements) {
          if (statements[0]?.text.startsWith('VACUUM')) await wait(1100);
          return connection.run(statements);
        },
      };
    },
  };
  const say = (sentence: string) => void said.push(sentence);
  await new PgliteUpkeep({ database: slow, hasRoom: () => true, say }).work();
  expect(said).toContainEqual(
    expect.stringMatching(/ blocked all queries for \d{4,} ms: VACUUM burrow_rows\.$/u),
  );
});

test('an opened store runs its maintenance', async () => {
  const other = await prepareFolder(await mkdtemp(join(tmpdir(), 'burrow-upkeep-store-')));
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const opened = await openHubStore({ at: { data: other } });
  try {
    const before = opened.roundTrips();
    await vi.advanceTimersByTimeAsync(15_000);
    vi.useRealTimers();
    await expect.poll(() => opened.roundTrips()).toBeGreaterThan(before + 2);
  } finally {
    await opened.close();
    await rm(other, { recursive: true });
  }
});
