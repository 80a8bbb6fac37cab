/**
 * Creating the folder of a PGlite database. PGlite creates it file by file, so an interrupted creation leaves a folder that looks
 * like a database but cannot be opened. Therefore a mark stands next to the folder until the database has been opened for the
 * first time.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Refusal } from '../../src/errors.ts';

const markOf = (data: string): string => `${data}.unfinished`;

export const isMade = (data: string): boolean => existsSync(data) && !existsSync(markOf(data));

/**
 * Refuses a database of another user. Files that this process writes into it would be readable by its own user only, and
 * PostgreSQL ends when it cannot read one of its files.
 * @param user the user who owns the files that this process writes there
 * @throws Refusal `storage_unavailable`
 */
export async function requireOwn(data: string, user: number): Promise<void> {
  if (!existsSync(data)) return;
  const { uid } = await stat(data);
  if (uid !== user)
    throw new Refusal(
      'storage_unavailable',
      `${data} belongs to user ${uid}, who could not open what user ${user} writes there: run it by sudo -u '#${uid}'.`,
    );
}

/**
 * Refuses a folder with files but without PG_VERSION, because PGlite would create an empty database there and overwrite the
 * files.
 * @throws Refusal `storage_unavailable`
 */
async function requirePgVersion(data: string): Promise<void> {
  if (existsSync(join(data, 'PG_VERSION')) || (await readdir(data)).length === 0) return;
  throw new Refusal(
    'storage_unavailable',
    `${data} has no PG_VERSION, so files of the database are missing: restore the folder from a backup.`,
  );
}

/**
 * Prepares a new folder. Removes what an interrupted creation left behind: nothing can have been stored there.
 * @returns a function to call when the database is open, before anything is stored
 * @throws Refusal `storage_unavailable` when the folder contains an incomplete database
 */
export async function beginFolder(data: string): Promise<() => Promise<void>> {
  if (isMade(data)) {
    await requirePgVersion(data);
    return () => Promise.resolve();
  }
  const mark = markOf(data);
  await writeFile(mark, '', { mode: 0o600 });
  await rm(data, { recursive: true, force: true });
  // Readable by its owner only, whatever the permissions of the folder around it.
  await mkdir(data, { mode: 0o700 });
  return async () => {
    await rm(mark);
    // Makes the removal durable: if the mark reappeared after a power loss, the next start would remove the data stored since.
    // Fails on Windows, which cannot sync folders.
    await syncFolder(dirname(data)).catch(() => undefined);
  };
}

/**
 * Creates the folder and its parents, readable for this user only. Replaces Node's recursive `mkdir`, which never returns below
 * /proc and reports ENOENT for a read-only file system.
 */
export async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const around = dirname(path);
  if (around !== path) await makeFolder(around);
  await mkdir(path, { mode: 0o700 }).catch(async (reason: unknown) => {
    // Another process may have created it at the same time.
    if (!(await isFolder(path))) throw reason;
  });
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** Names in it are on disk when this resolves. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
