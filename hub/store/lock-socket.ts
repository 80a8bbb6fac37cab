/**
 * Whether the holder of a folder's lock lives, as the kernel knows it: the holder listens on a socket in the folder, which is closed with
 * the last thread of its process, however that ends, and not while it is stopped. Other containers of the machine see it too.
 */
import { once } from 'node:events';
import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { codeOf } from '../../hosts/node-errors.ts';

export interface SocketHolder {
  readonly pid: number;
  /** What tells it from a later process with the same number, where the system says. */
  readonly started?: string | undefined;
  /** Of the folder: the file system, as its kernel knows it, and the kernel. Undefined: the holder does not listen. */
  readonly place?: string | undefined;
}

/**
 * File systems that one kernel has alone: ext, XFS, Btrfs, ZFS, tmpfs. Where several mount the same folder, a socket on which another one's
 * process listens looks like that of a process that has ended.
 */
const LOCAL: readonly number[] = [0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0x1021994];

/** A name of a socket has 107 bytes at most, and some systems cut a longer one off. */
const PATH_BYTES_MAX = 100;

export const socketOf = (folder: string, { pid, started }: SocketHolder): string =>
  join(folder, `burrow.${pid}.${started}.sock`);

/** Resolves when it listens, to the way to stop. Undefined: it does not, or what the kernel says of sockets there tells nothing. */
export async function listenAt(path: string): Promise<(() => Promise<unknown>) | undefined> {
  const server = createServer((caller) => caller.destroy()).unref();
  // A caller that could not be taken has its answer all the same.
  server.on('error', () => undefined);
  try {
    await once(server.listen(path), 'listening');
    return () => once(server.close(), 'close');
  } catch {
    return undefined;
  }
}

/** Undefined: that is not known. */
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
    // More callers wait than one that is stopped can take.
    return code === 'EAGAIN' || (code === 'ECONNREFUSED' ? false : undefined);
  } finally {
    caller.destroy();
  }
}

/** The number of another process that listens in the folder: it has the folder, or tries to take it. Undefined: none is known. */
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

/** Undefined: what the kernel says of that socket there tells nothing. */
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
