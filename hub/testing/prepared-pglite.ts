/**
 * Test kit: new databases of PGlite that are copied. To make one, PGlite runs PostgreSQL's `initdb`, which takes it seconds; a copy is
 * opened in a tenth of that. There are no tables in it: those each hub makes as ever. That PGlite makes one itself is seen where a test
 * gives a hub a path where nothing is; in memory, where tests in browsers start one.
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

/** To fill those of its default, 128 MB, is most of what it does to open a folder. */
const SMALL_BUFFERS = '\nshared_buffers = 8MB\n';
/** What `CREATE DATABASE` would copy, which no hub does: two thirds of all files. */
const TEMPLATES = ['template0', 'template1'];

let made: Promise<string> | undefined;

/** A folder with `image`, a tar of it, and `folder`: both as `initdb` made them. */
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
  // Another process may have made it meanwhile.
  await rename(own, kept).catch(() => rm(own, { recursive: true }));
  return kept;
}

const isThere = (folder: string): Promise<boolean> =>
  readFile(join(folder, 'image')).then(
    () => true,
    () => false,
  );

/** Another PGlite makes other folders. */
async function version(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const text = await readFile(join(dirname(main), '../package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** In memory. */
export const openPreparedPglite = (): PgDatabase => openPglite('memory:', startPrepared);

/** Of a database in memory to begin with. */
export const preparedImage = async (): Promise<string> => join(await prepared(), 'image');

/** In place of `startThread()`, in memory. */
export async function startPrepared(dataDir: string): Promise<Worker> {
  const loadDataDir = new Blob([await readFile(await preparedImage())]);
  return new Worker(new URL('../sql/pglite-thread.mjs', import.meta.url), {
    workerData: { dataDir, loadDataDir },
  });
}

/** The data folder of a hub, or of a database in a folder: made if it is not there. Returns it. */
export async function prepareFolder(folder: string): Promise<string> {
  await cp(join(await prepared(), 'folder'), dataIn(folder), { recursive: true });
  return folder;
}
