import { rename, rm, stat } from 'node:fs/promises';
import { OperationFault } from './operation-fault.ts';

/** Of files that hold what a database holds: on disk before they have their name, and for nobody else to read. */
export const PRIVATE = { mode: 0o600, flush: true } as const;

/**
 * A file has its name only when it is complete; of one that failed nothing is left.
 * @param write to the path it is given
 * @throws OperationFault when there is something else of that name: root would replace a device by a file
 */
export async function wholeFile<T>(file: string, write: (path: string) => Promise<T>): Promise<T> {
  const found = await stat(file).catch(() => undefined);
  if (found && !found.isFile())
    throw new OperationFault(`${file} is not a file: name one, new or to be replaced.`);
  const partial = `${file}.partial`;
  // Why it failed is told, not that nothing could be removed.
  const remove = () => rm(partial, { force: true }).catch(() => undefined);
  // One that a process left has the mode it was made with.
  await remove();
  try {
    const result = await write(partial);
    await rename(partial, file);
    return result;
  } catch (reason) {
    await remove();
    throw reason;
  }
}
