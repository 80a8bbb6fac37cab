/**
 * Room on the disk of a folder. PostgreSQL that cannot write its log ends, and cannot start before there is room again: until
 * then reads would fail too. So writes stop while there is still room for the log, and reads go on.
 */
import { statfsSync } from 'node:fs';
import { Refusal } from '../../src/errors.ts';
import type { Store } from '../../src/store/port.ts';

/** Of the largest transaction (16 MiB) its rows, entries and log, and files of the log that are begun meanwhile. */
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

/** A few microseconds. */
export function freeBytesAt(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
