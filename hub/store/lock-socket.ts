/**
 * Tells whether the process that holds the lock of a folder is alive, according to the kernel: the holder listens on a Unix
 * socket in the folder. The kernel closes the socket when the last thread of the process has ended, for whatever reason, but not
 * while the process is stopped. The check also works from other containers of the same machine.
 */
import { once } from 'node:events';
import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { codeOf } from '../../hosts/node-errors.ts';

export interface SocketHolder {
  readonly pid: number;
  /** The start time of the process, if the system reports it: distinguishes it from a later process with the same pid. */
  readonly started?: string | undefined;
  /** Identifies the file system of the folder and the boot of the kernel. Undefined when the holder does not listen. */
  readonly place?: string | undefined;
}

/**
 * File systems that only one kernel uses at a time: ext, XFS, Btrfs, ZFS, tmpfs. On a file system shared by several kernels, the
 * socket of a process of another kernel would look like that of a process that has ended.
 */
const LOCAL: readonly number[] = [0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0x1021994];

/** The path of a socket may have 107 bytes at most, and some systems truncate a longer path. */
const PATH_BYTES_MAX = 100;

export const socketOf = (folder: string, { pid, started }: SocketHolder): string =>
  join(folder, `burrow.${pid}.${started}.sock`);

/**
 * Listens on a socket at `path`.
 * @returns a function that stops listening; undefined if this is not possible
 */
export async function listenAt(path: string): Promise<(() => Promise<unknown>) | undefined> {
  const server = createServer((caller) => caller.destroy()).unref();
  // Failing to accept a connection, for example without free file descriptors, does not matter: the connect of the other process
  // has succeeded anyway.
  server.on('error', () => undefined);
  try {
    await once(server.listen(path), 'listening');
    return () => once(server.close(), 'close');
  } catch {
    return undefined;
  }
}

/** @returns undefined if it is unknown whether the holder listens */
export async function isListening(
  folder: string,
  holder: SocketHolder,
): Promise<boolean | undefined> {
  const path = socketOf(folder, holder);
  if (holder.place === undefined || holder.place !== (await placeOf(folder, path)))
    return undefined;
  const caller = connect(path);
  try {
    await once(caller, 'connect');
    return true;
  } catch (reason) {
    const code = codeOf(reason);
    // EAGAIN: the queue of connections is full, because the holder is stopped and accepts none. It is still alive.
    return code === 'EAGAIN' || (code === 'ECONNREFUSED' ? false : undefined);
  } finally {
    caller.destroy();
  }
}

/**
 * @returns the pid of another process that listens in the folder, because it holds the lock or is trying to take it; undefined if
 * none is known
 */
export async function otherListening(
  folder: string,
  own: SocketHolder,
): Promise<number | undefined> {
  if (own.place === undefined) return undefined;
  for (const name of await readdir(folder)) {
    const [, pid, started] = /^burrow\.(\d+)\.(.+)\.sock$/.exec(name) ?? [];
    const other = { pid: Number(pid), started, place: own.place };
    const isOther = pid !== undefined && socketOf(folder, other) !== socketOf(folder, own);
    if (isOther && (await isListening(folder, other)) === true) return other.pid;
  }
  return undefined;
}

/** @returns the value for `SocketHolder.place`; undefined if a socket there would not tell reliably whether its process is alive */
export async function placeOf(folder: string, path: string): Promise<string | undefined> {
  try {
    const { type } = await statfs(folder);
    if (!LOCAL.includes(type) || Buffer.byteLength(path) > PATH_BYTES_MAX) return undefined;
    const { dev } = await stat(folder);
    return `${dev} ${await readFile('/proc/sys/kernel/random/boot_id', 'latin1')}`;
  } catch {
    return undefined;
  }
}
