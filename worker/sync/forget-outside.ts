import type { FileStorage } from '../files/idb-files.ts';
import { forgetKept } from './outbox-file.ts';
import type { TokenVault } from './token-vault.ts';

/** Deletes what is stored outside the database: its files, the token, and the files of the outbox. */
export async function forgetOutside(
  name: string,
  { vault, files }: { readonly vault: TokenVault; readonly files: FileStorage },
): Promise<void> {
  await Promise.all([forgetKept(name), vault.forget(name), files.forgetFiles(name)]);
}
