import { rmSync } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { codeOf, messageOf } from '../../hosts/node-errors.ts';
import { OperationFault } from './operation-fault.ts';

/** Of files that hold what a database holds: on disk before they have their name, and for nobody else to read. */
export const PRIVATE = { mode: 0o600, flush: true } as const;

/** They end the process, as without this. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Of these Node names no file. */
const DISK_FAULTS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

/**
 * A file has its name only when it is complete; of one that failed nothing is left.
 * @param write to the path it is given
 * @throws OperationFault when there is something else of that name: root would replace a device by a file
 */
export async function wholeFile<T>(named: string, write: (path: string) => Promise<T>): Promise<T> {
  const found = await stat(named).catch(() => undefined);
  if (found && !found.isFile())
    throw new OperationFault(`${named} is not a file: name one, new or to be replaced.`);
  // A link stays one: /dev/stdout leads to a file where that is what the shell redirects to.
  const file = found ? await realpath(named) : named;
  const partial = `${file}.partial`;
  // Why it failed is told, not that nothing could be removed.
  const remove = () => rm(partial, { force: true }).catch(() => undefined);
  // One that a process left has the mode it was made with.
  await remove();
  const stop = (signal: NodeJS.Signals): void => {
    rmSync(partial, { force: true });
    for (const each of SIGNALS) process.off(each, stop);
    process.kill(process.pid, signal);
  };
  for (const each of SIGNALS) process.on(each, stop);
  try {
    const result = await write(partial);
    await rename(partial, file);
    return result;
  } catch (reason) {
    await remove();
    if (DISK_FAULTS.has(String(codeOf(reason))))
      throw new OperationFault(`Cannot write ${named}: ${messageOf(reason)}`, { cause: reason });
    throw reason;
  } finally {
    for (const each of SIGNALS) process.off(each, stop);
  }
}
