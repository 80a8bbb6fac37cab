import { forgetKept } from './outbox-file.ts';
import type { TokenVault } from './token-vault.ts';

/** Deletes what sync stores outside the database: the token, and the files of the outbox. */
export async function forgetOutside(name: string, vault: TokenVault): Promise<void> {
  await Promise.all([forgetKept(name), vault.forget(name)]);
}
