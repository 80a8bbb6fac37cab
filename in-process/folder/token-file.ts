/** Keeps the hub's token in a file of the folder, which only its owner can read: Node has no key that it does not let out. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TokenVault } from '../../worker/sync/token-vault.ts';

export const TOKEN_FILE = 'hub-token';

export function tokenFile(folder: string): TokenVault {
  const path = join(folder, TOKEN_FILE);
  return {
    async keep(_, token) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Written beside it and moved into place: nobody reads half of it, and one with other rights is replaced.
      const beside = `${path}.${randomUUID()}.new`;
      try {
        await writeFile(beside, token, { mode: 0o600, flush: true });
        await rename(beside, path);
      } finally {
        await rm(beside, { force: true });
      }
    },
    async kept() {
      try {
        return await readFile(path, 'utf8');
      } catch (reason) {
        if (reason instanceof Error && 'code' in reason && reason.code === 'ENOENT')
          return undefined;
        throw reason;
      }
    },
    forget: () => rm(path, { force: true }),
  };
}
