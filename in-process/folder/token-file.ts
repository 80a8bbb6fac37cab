/** Stores the hub's token in a file of the folder that only its owner can read. Node has no key store to encrypt it with. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenVault } from '../../worker/sync/token-vault.ts';
import { readIfThere, writeWhole } from './whole-file.ts';

const TOKEN_FILE = 'hub-token';

export function tokenFile(folder: string): TokenVault {
  const path = join(folder, TOKEN_FILE);
  return {
    keep: (_, token) => writeWhole(path, token),
    kept: async () => (await readIfThere(path))?.toString(),
    forget: () => rm(path, { force: true }),
  };
}
