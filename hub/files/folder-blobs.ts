/** Stores the bytes of files in a folder: one file on disk for each key. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, isOfFullDisk } from '../../hosts/node-errors.ts';
import type { BlobStore, StoredBlob } from '../../src/sync/hub/files/blob-store.ts';
import { SyncRefused } from '../../src/sync/protocol/refusals.ts';
import { freeBytesAt, hasDiskRoom } from '../store/disk-room.ts';
import { makeFolder, syncFolder } from '../store/new-folder.ts';

/** Far more than the database keeps free: if files fill the disk that the database is on, its writes must still succeed. */
const KEPT_FREE_BYTES = 512 * 1024 * 1024;
/** The prefix of the names of files that are still being written. */
const UNFINISHED = '.';
/** Unfinished files older than this are removed: no upload takes so long. */
const UNFINISHED_MS = 3_600_000;

export async function openFolderBlobs(folder: string, freeBytes = freeBytesAt): Promise<BlobStore> {
  await makeFolder(folder);
  const pathOf = (key: string): string => join(folder, ...key.split('/'));
  return {
    async put(key, bytes) {
      if (!hasDiskRoom(folder, freeBytes, KEPT_FREE_BYTES))
        throw new SyncRefused('storage_full', FULL);
      try {
        await writeWhole(pathOf(key), bytes);
      } catch (reason) {
        if (!isOfFullDisk(reason)) throw reason;
        throw new SyncRefused('storage_full', FULL);
      }
    },
    get: (key) => readFile(pathOf(key)).catch(undefinedIfMissing),
    list: (prefix) => filesBelow(folder, prefix),
    async delete(keys) {
      for (const key of keys) await rm(pathOf(key), { force: true });
      for (const path of new Set(keys.map((key) => dirname(pathOf(key)))))
        await removeEmpty(path, folder);
    },
  };
}

const FULL =
  'The disk on which this hub stores files is full. Files are sent when there is room again.';

/**
 * Writes and syncs the file under a temporary name, then renames it. Its new name and those of new folders are on disk before
 * this resolves.
 */
async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const parent = dirname(path);
  const unfinished = join(parent, `${UNFINISHED}${randomBytes(8).toString('hex')}`);
  for (let isSecond = false; ; isSecond = true) {
    const made = await mkdir(parent, { recursive: true });
    try {
      const file = await open(unfinished, 'wx');
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, path);
      await syncFolder(parent);
      if (made !== undefined)
        for (let at = parent; at.startsWith(made); at = dirname(at)) await syncFolder(dirname(at));
      return;
    } catch (reason) {
      await rm(unfinished, { force: true });
      // The folder was empty and has just been removed by `delete()`: tries once more.
      if (codeOf(reason) !== 'ENOENT' || isSecond) throw reason;
    }
  }
}

async function* filesBelow(folder: string, prefix: string): AsyncGenerator<StoredBlob> {
  const entries = await readdir(join(folder, ...prefix.split('/')), { withFileTypes: true }).catch(
    undefinedIfMissing,
  );
  for (const entry of entries ?? []) {
    const key = `${prefix}${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(folder, `${key}/`);
    else {
      const path = join(folder, ...key.split('/'));
      const found = await stat(path).catch(undefinedIfMissing);
      if (!found) continue;
      if (!entry.name.startsWith(UNFINISHED)) yield { key, putMs: found.mtimeMs };
      else if (Date.now() - found.mtimeMs > UNFINISHED_MS) await rm(path, { force: true });
    }
  }
}

/** Removes empty folders from `path` upwards, up to `root`. */
async function removeEmpty(path: string, root: string): Promise<void> {
  for (let at = path; at !== root && at.startsWith(root); at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      return;
    }
  }
}

function undefinedIfMissing(reason: unknown): undefined {
  const code = codeOf(reason);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw reason;
}
