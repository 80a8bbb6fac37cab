/**
 * Keeps room on the disk of a PGlite folder. A PostgreSQL that cannot write its log (WAL) ends, and cannot start until there is
 * room again, so reads would fail too. Therefore writes are refused while there is still room for the log, and reads continue.
 */
import { statfsSync } from 'node:fs';
import { Refusal } from '../../src/errors.ts';
import type { Store } from '../../src/store/port.ts';

/**
 * Enough for the rows, index entries and log of the largest transaction (16 MiB), and for log files that are started in the
 * meantime.
 */
export const KEPT_FREE_BYTES = 64 * 1024 * 1024;

export const hasDiskRoom = (
  folder: string,
  freeBytes = freeBytesAt,
  keptFree = KEPT_FREE_BYTES,
): boolean => freeBytes(folder) >= keptFree;

export function withDiskRoom(store: Store, folder: string, freeBytes = freeBytesAt): Store {
  return {
    read: (body, options) => store.read(body, options),
    async write(body, options) {
      if (!hasDiskRoom(folder, freeBytes))
        throw new Refusal(
          'quota_exceeded',
          'The disk of the database is full: nothing was stored.',
        );
      return store.write(body, options);
    },
    close: () => store.close(),
  };
}

/** Takes a few microseconds. */
export function freeBytesAt(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
