import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, messageOf } from '../../hosts/node-errors.ts';
import { OperationFault } from './operation-fault.ts';

/** Options for files with data of a database: flushed to disk before they get their final name, and readable by their owner only. */
export const PRIVATE = { mode: 0o600, flush: true } as const;

/** The handler sends the signal again, so they end the process as usual. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** A process that writes a file does not pause for that long, ms. Ids of processes would not show it: another container has its own. */
const IDLE_MAX_MS = 3_600_000;

/** Errors for which Node's message does not name the file. */
const DISK_FAULTS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

/**
 * Writes a file under a temporary name, which it keeps until it is complete. If writing fails, nothing is left. What a process that was
 * killed has left of the same file is removed.
 * @param write writes to the path that is passed to it
 * @throws OperationFault when something other than a file has this name: root would replace a device by a file
 */
export async function wholeFile<T>(named: string, write: (path: string) => Promise<T>): Promise<T> {
  const found = await stat(named).catch(() => undefined);
  if (found && !found.isFile())
    throw new OperationFault(`${named} is not a file: name one, new or to be replaced.`);
  // Symbolic links are kept. /dev/stdout is a link to a file if the shell redirects output to a file.
  const file = found ? await realpath(named) : named;
  // Another process may be writing a file of this name.
  const partial = `${file}.${randomUUID()}.partial`;
  // If removing fails, the earlier error is reported instead.
  const remove = () => rm(partial, { force: true }).catch(() => undefined);
  const stop = (signal: NodeJS.Signals): void => {
    rmSync(partial, { force: true });
    for (const each of SIGNALS) process.off(each, stop);
    process.kill(process.pid, signal);
  };
  for (const each of SIGNALS) process.on(each, stop);
  // These files only take space.
  await removeLeft(file).catch(() => undefined);
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

async function removeLeft(file: string): Promise<void> {
  const [folder, start] = [dirname(file), `${basename(file)}.`];
  for (const name of await readdir(folder)) {
    if (!name.startsWith(start) || !/^[\da-f-]{36}\.partial$/.test(name.slice(start.length)))
      continue;
    const left = join(folder, name);
    const { mtimeMs } = await stat(left);
    if (Date.now() - mtimeMs > IDLE_MAX_MS) await rm(left);
  }
}
