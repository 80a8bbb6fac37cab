/**
 * Test kit: new databases of PGlite, made by copying. Creating one runs PostgreSQL's `initdb`, which takes PGlite seconds;
 * opening a copy takes a tenth of that. A copy contains no tables, so each hub still creates them. Creation by PGlite itself is
 * tested where a test gives a hub a path that does not exist and, in memory, where tests in browsers start one.
 */
import { PGlite } from '@electric-sql/pglite';
import { appendFile, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { PgDatabase } from '../sql/pg-database.ts';
import { openPglite } from '../sql/pglite-database.ts';
import { dataIn } from '../store/folder-lock.ts';

const cache = fileURLToPath(new URL('../../node_modules/.cache/burrow/', import.meta.url));

/** Filling the default of 128 MB takes most of the time needed to open a folder. */
const SMALL_BUFFERS = '\nshared_buffers = 8MB\n';
/** Databases that only `CREATE DATABASE` copies, which no hub does. They are two thirds of all files. */
const TEMPLATES = ['template0', 'template1'];

let made: Promise<string> | undefined;

/** A folder that contains `image`, a tar file of the database, and `folder`, both as `initdb` made them. */
const prepared = (): Promise<string> => (made ??= make());

async function make(): Promise<string> {
  const kept = join(cache, `pglite-small-${await version()}-${process.platform}`);
  if (await isThere(kept)) return kept;
  await mkdir(cache, { recursive: true });
  const own = await mkdtemp(join(cache, 'pglite-'));
  const database = await PGlite.create(join(own, 'folder'));
  await appendFile(join(own, 'folder/postgresql.conf'), SMALL_BUFFERS);
  await database.exec('UPDATE pg_database SET datistemplate = false');
  for (const each of TEMPLATES) await database.exec(`DROP DATABASE ${each}`);
  const image = await database.dumpDataDir('none');
  await database.close();
  await writeFile(join(own, 'image'), Buffer.from(await image.arrayBuffer()));
  // Another process may have made the folder in the meantime.
  await rename(own, kept).catch(() => rm(own, { recursive: true }));
  return kept;
}

const isThere = (folder: string): Promise<boolean> =>
  readFile(join(folder, 'image')).then(
    () => true,
    () => false,
  );

/** Part of the name of the folder, because another version of PGlite makes other files. */
async function version(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const text = await readFile(join(dirname(main), '../package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** Opens a copy in memory. */
export const openPreparedPglite = (): PgDatabase => openPglite('memory:', startPrepared);

/** The path of the tar file with which a database in memory can begin. */
export const preparedImage = async (): Promise<string> => join(await prepared(), 'image');

/** Replaces `startThread()` for a database in memory. */
export async function startPrepared(dataDir: string): Promise<Worker> {
  const loadDataDir = new Blob([await readFile(await preparedImage())]);
  return new Worker(new URL('../sql/pglite-thread.mjs', import.meta.url), {
    workerData: { dataDir, loadDataDir },
  });
}

/** Copies a database into a data folder of a hub, which is created if it does not exist. Returns the folder. */
export async function prepareFolder(folder: string): Promise<string> {
  await cp(join(await prepared(), 'folder'), dataIn(folder), { recursive: true });
  return folder;
}
