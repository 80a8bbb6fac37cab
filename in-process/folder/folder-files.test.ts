import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe } from 'vitest';
import { describeFileStore } from '../../src/sync/device/files/file-store.contract.ts';
import { folderFiles } from './folder-files.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

describe('in a folder', () => {
  describeFileStore(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'burrow-files-'));
    folders.push(folder);
    return folderFiles(folder).openFiles('any');
  });
});
