/**
 * A folder of PGlite that is made. It is made file by file: where that was cut off, there is what looks like a database and cannot be
 * opened. So a mark stands beside it until it has been opened.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const markOf = (data: string): string => `${data}.unfinished`;

export const isMade = (data: string): boolean => existsSync(data) && !existsSync(markOf(data));

/**
 * Removes what was begun and not finished: nothing was stored there.
 * @returns what is to be called when the database is open, before anything is stored
 */
export async function beginFolder(data: string): Promise<() => Promise<void>> {
  if (isMade(data)) return () => Promise.resolve();
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
