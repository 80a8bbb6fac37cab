/** The host of a database in a folder: PGlite, threads of Node, and a file with the token for a hub. */
import { existsSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { startHashingThread } from '../../hub/passwords/password-pool.ts';
import { takeFolder } from '../../hub/store/folder-lock.ts';
import type { DatabaseStorage } from '../../worker/opening/find-store.ts';
import type { StoredDatabase } from '../../worker/store/stored-database.ts';
import { LOSSLESS } from '../lossless-store.ts';
import { folderFiles } from './folder-files.ts';
import { nodeNetwork } from './node-network.ts';
import type { OpenFolder } from './open-folder.ts';
import { tokenFile } from './token-file.ts';
import { webWorkerOf } from './web-worker.ts';

export interface FolderParts {
  /** Absolute path. */
  readonly folder: string;
  readonly opening: OpenFolder;
  readonly ended: AbortSignal;
}

export const folderStorage = ({ folder, opening, ended }: FolderParts): DatabaseStorage => ({
  ended,
  network: nodeNetwork,
  openStore: () => storedIn(folder, opening),
  destroyStore: () => removeData(folder),
  // Only one process at a time has the folder open.
  isShared: false,
  vault: tokenFile(folder),
  files: folderFiles(folder),
  startHashing: () => webWorkerOf(startHashingThread()),
});

async function storedIn(folder: string, opening: OpenFolder): Promise<StoredDatabase> {
  const store = await opening.store();
  return {
    ...LOSSLESS,
    store,
    birth: 'in a folder',
    async destroy() {
      await store.close();
      await removeData(folder);
    },
  };
}

/** Deletes the database. Other files in the folder stay: they are not ours. */
async function removeData(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const taken = await takeFolder(folder, () => undefined);
  try {
    await rm(taken.data, { recursive: true, force: true });
  } finally {
    await taken.release();
  }
  await rmdir(folder).catch(() => undefined);
}
