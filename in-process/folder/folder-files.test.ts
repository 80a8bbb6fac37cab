import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { fillDisk, onSmallDisk } from '../../hub/testing/small-disk.ts';
import { describeFileStore } from '../../src/sync/device/files/file-store.contract.ts';
import { newRecord } from '../../src/sync/device/files/put-file.ts';
import { folderFiles } from './folder-files.ts';

const MIB = 1024 * 1024;

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'burrow-files-'));
  folders.push(folder);
  return folder;
}

describe('file store in a folder', () => {
  describeFileStore(async () => folderFiles(await newFolder()).openFiles('any'));
});

test('other files and folders in the folder are ignored', async () => {
  const folder = await newFolder();
  const store = folderFiles(folder).openFiles('any');
  const record = newRecord(`file:${'a'.repeat(64)}`, { size: 0, chunks: [] });
  await store.update(record.file, () => record);
  // Files that file managers leave behind.
  await writeFile(join(folder, 'files', '.DS_Store'), '');
  await mkdir(join(folder, 'files', 'copies'));
  expect(await store.records()).toEqual([record]);
});

const file = `file:${'a'.repeat(64)}` as const;
const FULL = { code: 'quota_exceeded', message: expect.stringContaining('disk') };

test('files leave room on the disk for the writes of the database', async () => {
  const folder = await newFolder();
  let free = 200 * MIB;
  const store = folderFiles(folder, () => free).openFiles('any');
  await store.putChunk(file, 0, new Uint8Array(1));
  free = 100 * MIB;
  await expect(store.putChunk(file, 1, new Uint8Array(1))).rejects.toMatchObject(FULL);
  // Records are small, and changed when files are sent or removed.
  const record = newRecord(file, { size: 0, chunks: [] });
  expect(await store.update(file, () => record)).toEqual(record);
  free = 200 * MIB;
  await store.putChunk(file, 1, new Uint8Array(1));
});

test('on a full disk, putChunk() and update() reject with quota_exceeded and leave nothing', (context) =>
  onSmallDisk(context, 1, async (disk) => {
    const store = folderFiles(disk, () => Infinity).openFiles('any');
    await expect(store.putChunk(file, 0, new Uint8Array(2 * MIB))).rejects.toMatchObject(FULL);
    expect(await store.chunk(file, 0)).toBeUndefined();
    await fillDisk(disk, join(disk, 'filler'), 0);
    const record = newRecord(file, { size: 0, chunks: [] });
    await expect(store.update(file, () => record)).rejects.toMatchObject(FULL);
    expect(await store.records()).toEqual([]);
  }));
