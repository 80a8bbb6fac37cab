/**
 * `burrowdb/node`: databases in folders, for scripts and servers in Node. The database has the API of the page, because it is the page's
 * own code over the engine of the worker; PGlite keeps the data, as it does for a hub.
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

/** What a folder has no use for, and why. */
const OF_BROWSERS = {
  durability: 'every write to a folder is strict',
  identity: 'open a folder for each of them',
  persist: 'nobody evicts a folder',
  store: 'a folder is stored by PGlite',
  worker: 'the engine runs in this process',
};

/** Those of the page, but for what is about browsers. */
export interface FolderOptions extends Omit<
  DatabaseOptions,
  'durability' | 'identity' | 'persist' | 'store' | 'worker'
> {}

/**
 * Opens the database in a folder, or makes both. One process at a time has it open. What was acknowledged survives a process that is
 * killed. Whoever can read the folder can read the database.
 * @throws UsageError when the folder or an option is invalid, Unsupported where PGlite is not installed
 * @throws QueryError `storage_blocked` when another process has the folder open, which is named; `storage_unavailable` when a newer
 * version of Burrow wrote it, or it cannot be used
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
  // Before the page, which takes a worker for stuck that opens for long: PGlite makes a folder as fast as the machine is. What keeps it
  // from that the host reports to the page.
  await opening.store().catch(() => undefined);
  let endLast = (): void => undefined;
  const worker = (): Worker => {
    // After a lock, a page starts the next one while the last is still letting go.
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
    // An option was wrong: no worker had it.
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

/** An optional package: most who install Burrow build pages, and need none of its 25 MB. */
function requirePglite(): void {
  try {
    createRequire(import.meta.url).resolve('@electric-sql/pglite');
  } catch {
    throw new Unsupported(
      'A database in a folder needs PGlite: run `npm install @electric-sql/pglite`.',
    );
  }
}
