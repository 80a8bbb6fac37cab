import { LIMITS } from '../limits.ts';
import { unsentError } from './database.ts';
import { forgetStored, Link, type LinkOptions } from './connection/link.ts';
import { checkName, nameOf, storedName } from './stored-names.ts';

export interface ForgetOptions {
  /** Whose. Neither this nor `identityHash`: that which was opened without an identity. */
  readonly identity?: string;
  /** From `listDatabases()`. */
  readonly identityHash?: string | undefined;
  /** Even writes that no hub has seen yet; and what does not open. */
  readonly discardUnsent?: boolean;
  readonly worker?: () => Worker;
}

/**
 * Deletes all that is kept of a database on this device. It need not be open in this page, nor unlocked; tabs that have it open let go of it.
 * @throws UnsentWrites, or why it cannot be opened to look for them; never with `discardUnsent`
 */
export async function forgetDatabase(name: string, options: ForgetOptions = {}): Promise<void> {
  checkName(name);
  const { identity, identityHash, discardUnsent = false, worker } = options;
  const stored =
    identityHash === undefined ? await storedName(name, identity) : nameOf(name, identityHash);
  if (!discardUnsent) await requireNothingUnsent(stored, worker);
  await forgetStored(stored, worker);
}

async function requireNothingUnsent(name: string, start: LinkOptions['start']): Promise<void> {
  const link = new Link({
    name,
    start,
    durability: 'strict',
    hashCost: LIMITS.hashCostDefault,
    audience: undefined,
    log: { enabled: false, retentionDays: 1, maxBytes: 0 },
  });
  await link.start();
  try {
    const unsent = await link.call((host) => host.unsent());
    if (unsent > 0) throw unsentError(unsent);
  } finally {
    await link.close('close');
  }
}
