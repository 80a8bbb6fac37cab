import { forgetKept } from './outbox-file.ts';
import { forgetToken } from './token-vault.ts';

/** What sync keeps of a database beside it. */
export async function forgetOutside(name: string): Promise<void> {
  await Promise.all([forgetKept(name), forgetToken(name)]);
}
