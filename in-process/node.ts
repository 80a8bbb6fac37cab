/**
 * `burrowdb/node`: databases in folders, for scripts and servers in Node. The database has the same API as in a page, because it runs the
 * page's code and the worker's engine. The data is stored by PGlite, as at a hub.
 */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import {
  openDatabase as openOnPage,
  Unsupported,
  UsageError,
  type Database,
  type DatabaseOptions,
} from '../src/index.ts';
import { createHost } from '../worker/host.ts';
import { requireKnown } from '../src/schema/require-known.ts';
import { servePage } from '../worker/serve-page.ts';
import { folderStorage } from './folder/folder-storage.ts';
import { OpenFolder } from './folder/open-folder.ts';
import { startPortWorker } from './port-worker.ts';

/** Options that a folder does not support, with the reason. */
const OF_BROWSERS = {
  durability: 'every write to a folder is strict',
  identity: 'open a folder for each of them',
  persist: 'nobody evicts a folder',
  store: 'a folder is stored by PGlite',
  worker: 'the engine runs in this process',
};

/** The options of `openDatabase` in a page, without those that only apply to browsers. */
export interface FolderOptions extends Omit<
  DatabaseOptions,
  'durability' | 'identity' | 'persist' | 'store' | 'worker'
> {}

/**
 * Opens the database in a folder, and creates both if they do not exist. One process at a time can have a folder open. Acknowledged
 * writes survive if the process is killed. The data is not encrypted: whoever can read the folder can read the database.
 * @throws UsageError when the folder or an option is invalid
 * @throws Unsupported when PGlite is not installed
 * @throws QueryError `storage_blocked` when another process has the folder open (the message names it); `storage_unavailable` when the
 * folder cannot be used, or a newer version of Burrow has written it
 * @example
 * const db = await openDatabase('./field-notes');
 * const notes = await db.client().query(q.Paginate(q.Documents(q.Collection('notes'))));
 * await db.close();
 */
export async function openDatabase(folder: string, options: FolderOptions = {}): Promise<Database> {
  checkFolder(folder);
  checkOptions(options);
  requirePglite();
  const path = resolve(folder);
  const opening = new OpenFolder(path);
  // Opened before the page starts the worker: the page considers a worker stuck that takes long to open, and creating a folder with
  // PGlite can take long on a slow machine. If opening fails here, the host reports the error to the page.
  await opening.store().catch(() => undefined);
  let endLast = (): void => undefined;
  const worker = (): Worker => {
    // After a lock, the page starts the next worker while the previous one is still closing.
    endLast();
    return startPortWorker((port) => {
      const ended = new AbortController();
      const host = createHost(folderStorage({ folder: path, opening, ended: ended.signal }));
      let hasLeft = false;
      const leave = (): void => {
        if (!hasLeft) void opening.leave(host.close());
        hasLeft = true;
      };
      endLast = leave;
      servePage(host, port);
      return () => {
        ended.abort();
        leave();
      };
    });
  };
  const forFolder = { persist: false, durability: 'strict', worker } as const;
  return openOnPage(path, { ...options, ...forFolder }).catch(async (reason: unknown) => {
    // Opening failed, for example because an option is invalid, so no worker may have used the store.
    await opening.leave(Promise.resolve());
    throw reason;
  });
}

function checkFolder(folder: unknown): asserts folder is string {
  if (typeof folder !== 'string' || folder === '')
    throw new UsageError('The folder of a database must be a string that is not empty.');
}

function checkOptions(options: object): void {
  requireKnown(options);
  for (const [name, why] of Object.entries(OF_BROWSERS))
    if (name in options)
      throw new UsageError(`The option \`${name}\` is for browsers: leave it out, ${why}.`);
}

/** PGlite is an optional package: most users of Burrow build pages and do not need its 25 MB. */
function requirePglite(): void {
  try {
    createRequire(import.meta.url).resolve('@electric-sql/pglite');
  } catch {
    throw new Unsupported(
      'A database in a folder needs PGlite: run `npm install @electric-sql/pglite`.',
    );
  }
}
