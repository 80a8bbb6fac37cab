/** The files of a database in a folder: a folder for each file, with its record and its chunks. */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isOfFullDisk } from '../../hosts/node-errors.ts';
import { freeBytesAt, hasDiskRoom, KEPT_FREE_BYTES } from '../../hub/store/disk-room.ts';
import { Refusal } from '../../src/errors.ts';
import { fileName, type FileName } from '../../src/sync/protocol/files.ts';
import type { FileRecord } from '../../src/sync/device/files/file-store.ts';
import type { FileStorage } from '../../worker/files/idb-files.ts';
import { SerialQueue } from '../../src/store/serial-queue.ts';
import { readIfThere, writeWhole } from './whole-file.ts';

const RECORD = 'record.json';
/** More than the database keeps free, so that its writes still succeed when files have filled the disk. */
const FILES_KEPT_FREE_BYTES = 2 * KEPT_FREE_BYTES;

/** One process at a time has the folder open, so a queue in memory is enough to run its changes one after the other. */
export function folderFiles(folder: string, freeBytes = freeBytesAt): FileStorage {
  const root = join(folder, 'files');
  const at = (file: FileName, part: string): string => join(root, hashIn(file), part);
  const turns = new SerialQueue();
  const full = (cause?: unknown): Refusal =>
    new Refusal('quota_exceeded', `The disk of ${folder} is too full: the file was not stored.`, {
      cause,
    });
  /** @throws Refusal `quota_exceeded` */
  const write = (path: string, content: string | Uint8Array): Promise<void> =>
    writeWhole(path, content).catch((reason: unknown) => {
      throw isOfFullDisk(reason) ? full(reason) : reason;
    });
  const record = async (file: FileName): Promise<FileRecord | undefined> => {
    const bytes = await readIfThere(at(file, RECORD));
    // JSON omits properties that are undefined.
    return bytes && { ...NOTHING_FAILED, ...(JSON.parse(bytes.toString()) as FileRecord) };
  };
  return {
    openFiles: () => ({
      isUsed: async () => existsSync(root),
      close: () => undefined,
      record: (file) => turns.run(() => record(file)),
      records: () =>
        turns.run(async () => {
          const names = existsSync(root) ? await readdir(root) : [];
          const found = await Promise.all(
            // File managers leave their own files in folders.
            names.filter(isHash).map((hash) => record(fileName(`file:${hash}`, 'folder'))),
          );
          return found.filter((each) => each !== undefined);
        }),
      update: (file, change) =>
        turns.run(async () => {
          const before = await record(file);
          const next = change(before);
          if (next) await write(at(file, RECORD), JSON.stringify(next));
          return next ?? before;
        }),
      chunk: (file, n) => readIfThere(at(file, String(n))),
      putChunk: (file, n, bytes) =>
        turns.run(async () => {
          if (!hasDiskRoom(folder, freeBytes, FILES_KEPT_FREE_BYTES)) throw full();
          await write(at(file, String(n)), bytes);
        }),
      remove: (file, isStill) =>
        turns.run(async () => {
          const before = await record(file);
          if (!before || !isStill(before)) return false;
          // The record first: if the process is killed in between, no record remains of a file that lacks chunks.
          await rm(at(file, RECORD), { force: true });
          await rm(join(root, hashIn(file)), { recursive: true, force: true });
          return true;
        }),
    }),
    forgetFiles: () => rm(root, { recursive: true, force: true }),
  };
}

const NOTHING_FAILED: Pick<FileRecord, 'failed'> = { failed: undefined };

const isHash = (name: string): boolean => /^[\da-f]{64}$/.test(name);

const hashIn = (file: FileName): string => file.slice('file:'.length);
