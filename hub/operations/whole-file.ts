import { rename, rm } from 'node:fs/promises';

/** A file has its name only when it is complete; of one that failed nothing is left. @param write to the path it is given */
export async function wholeFile<T>(file: string, write: (path: string) => Promise<T>): Promise<T> {
  const partial = `${file}.partial`;
  try {
    const result = await write(partial);
    await rename(partial, file);
    return result;
  } catch (reason) {
    // Why it failed is told, not that nothing could be removed.
    await rm(partial, { force: true }).catch(() => undefined);
    throw reason;
  }
}
