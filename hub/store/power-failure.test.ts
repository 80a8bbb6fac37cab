/** What is left of a folder after a power failure: what was synced, and nothing else. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { openPglite } from '../sql/pglite-database.ts';
import type { PgDatabase } from '../sql/pg-database.ts';
import { prepareFolder } from '../testing/prepared-pglite.ts';
import { runStatement } from '../testing/run-statement.ts';
import { dataIn } from './folder-lock.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'burrow-power-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Starts PGlite's thread on a disk without a cache. @param kept receives what is synced */
const startOn = (dataDir: string, kept: string): Worker =>
  new Worker(new URL('../testing/disk-without-cache.mjs', import.meta.url), {
    workerData: { dataDir, kept },
  });

/** A database, functions that kill its thread and that open what a power failure leaves of its folder. */
async function preparedDatabase() {
  const data = dataIn(await prepareFolder(await newFolder()));
  const kept = join(await newFolder(), 'kept');
  await cp(data, kept, { recursive: true });
  let thread: Worker | undefined;
  const database = openPglite(data, () => (thread = startOn(data, kept)));
  onTestFinished(() => database.close());
  return {
    database,
    kill: () => thread?.terminate(),
    rowsAfterPowerFailure: async (): Promise<number> => {
      const copy = join(await newFolder(), 'copy');
      await cp(kept, copy, { recursive: true });
      return rowsInFolder(copy);
    },
  };
}

async function rowsInFolder(folder: string): Promise<number> {
  const database = openPglite(folder);
  const rows = await rowsIn(database);
  await database.close();
  return rows;
}

const insert = (database: PgDatabase, from: number, rows: number) =>
  runStatement(
    database,
    `INSERT INTO t SELECT n, repeat(md5(n::text), 60) FROM generate_series(${from}, ${from + rows - 1}) n`,
  );

async function rowsIn(database: PgDatabase): Promise<number> {
  const [row] = await runStatement(database, 'SELECT count(body) FROM t');
  return Number(row?.[0]);
}

const CREATE = 'CREATE TABLE t (key bigint PRIMARY KEY, body text)';

test('acknowledged writes survive a power failure (S3, F2)', async () => {
  const { database, rowsAfterPowerFailure } = await preparedDatabase();
  await runStatement(database, CREATE);
  for (let row = 0; row < 5; row += 1) {
    await insert(database, row, 1);
    expect(await rowsAfterPowerFailure()).toBe(row + 1);
  }
});

test('what checkpoints have written survives a power failure, also what was written before a kill', async () => {
  const { database, kill, rowsAfterPowerFailure } = await preparedDatabase();
  await runStatement(database, CREATE);
  await insert(database, 0, 10_000);
  await runStatement(database, 'CHECKPOINT');
  // More than the database keeps in memory, so some of it is already in the table's file, which nothing has synced yet.
  await insert(database, 10_000, 10_000);
  await kill();
  expect(await rowsIn(database)).toBe(20_000);
  await runStatement(database, 'CHECKPOINT');
  expect(await rowsAfterPowerFailure()).toBe(20_000);
});

test('a new database survives a power failure', async () => {
  const data = join(await newFolder(), 'data');
  const kept = await newFolder();
  const database = openPglite(data, () => startOn(data, kept));
  onTestFinished(() => database.close());
  await runStatement(database, CREATE);
  await insert(database, 0, 1);
  expect(await rowsInFolder(kept)).toBe(1);
});
