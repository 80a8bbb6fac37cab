/**
 * A folder of PGlite that is made. It is made file by file: where that was cut off, there is what looks like a database and cannot be
 * opened. So a mark stands beside it until it has been opened.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Refusal } from '../../src/errors.ts';

const markOf = (data: string): string => `${data}.unfinished`;

export const isMade = (data: string): boolean => existsSync(data) && !existsSync(markOf(data));

/**
 * Files that another user writes into a database are for that user alone, and PostgreSQL ends where it cannot read one.
 * @param user to whom belongs what this process writes there
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
 * PGlite makes an empty database where this file is not, over all that is there.
 * @throws Refusal `storage_unavailable`
 */
async function requireMark(data: string): Promise<void> {
  if (existsSync(join(data, 'PG_VERSION')) || (await readdir(data)).length === 0) return;
  throw new Refusal(
    'storage_unavailable',
    `${data} has no PG_VERSION, so files of the database are missing: restore the folder from a backup.`,
  );
}

/**
 * Removes what was begun and not finished: nothing was stored there.
 * @returns what is to be called when the database is open, before anything is stored
 * @throws Refusal `storage_unavailable` when a database is there that is not whole
 */
export async function beginFolder(data: string): Promise<() => Promise<void>> {
  if (isMade(data)) {
    await requireMark(data);
    return () => Promise.resolve();
  }
  const mark = markOf(data);
  await writeFile(mark, '', { mode: 0o600 });
  await rm(data, { recursive: true, force: true });
  // For nobody else to read, whoever made the folder around it.
  await mkdir(data, { mode: 0o700 });
  return async () => {
    await rm(mark);
    // Were it there again after a loss of power, the next start would remove what is stored by then.
    // Windows has no such thing.
    await syncFolder(dirname(data)).catch(() => undefined);
  };
}

/** Names in it are on disk when this resolves. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
