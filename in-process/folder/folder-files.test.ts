import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { describeFileStore } from '../../src/sync/device/files/file-store.contract.ts';
import { newRecord } from '../../src/sync/device/files/put-file.ts';
import { folderFiles } from './folder-files.ts';

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
