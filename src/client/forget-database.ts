import { flag, option, optional, text, type Option } from '../host/options.ts';
import { SETTINGS } from '../host/settings.ts';
import { DatabaseWorker, type DatabaseWorkerOptions } from './connection/database-worker.ts';
import { forgetStored } from './connection/stored-calls.ts';
import { unsentError } from './database.ts';
import { OPTIONS } from './options.ts';
import { readOptions } from './read-options.ts';
import { checkName, nameOf, storedName } from './stored-names.ts';

export interface ForgetOptions {
  /** Identity whose database is deleted. Without `identity` and `identityHash`: the database that was opened without an identity. */
  readonly identity?: string;
  /** The hash from `listDatabases()`, in place of `identity`. */
  readonly identityHash?: string | undefined;
  /** Also deletes a database with writes that no hub has received yet, or that cannot be opened. */
  readonly discardUnsent?: boolean;
  readonly worker?: () => Worker;
}

const FORGET_OPTIONS = {
  worker: OPTIONS.worker,
  identity: OPTIONS.identity,
  identityHash: optional(text),
  discardUnsent: option(flag, false),
} satisfies Record<keyof ForgetOptions, Option<unknown>>;

/**
 * Deletes all data of a database on this device. The database need not be open in this page, nor unlocked; tabs that have it open close it.
 * @throws UsageError when an option is invalid or does not exist
 * @throws UnsentWrites, or the error why the database cannot be opened to look for unsent writes; neither with `discardUnsent`
 * @example
 * await db.close();
 * await forgetDatabase('field-notes');
 */
export async function forgetDatabase(name: string, options: ForgetOptions = {}): Promise<void> {
  checkName(name);
  const { identity, identityHash, discardUnsent, worker } = readOptions(FORGET_OPTIONS, options);
  const stored =
    identityHash === undefined ? await storedName(name, identity) : nameOf(name, identityHash);
  if (!discardUnsent) await requireNothingUnsent(stored, worker);
  await forgetStored(stored, worker);
}

async function requireNothingUnsent(
  name: string,
  start: DatabaseWorkerOptions['start'],
): Promise<void> {
  const worker = new DatabaseWorker({ name, start, settings: readOptions(SETTINGS, {}) });
  await worker.start();
  try {
    const unsent = await worker.call((host) => host.unsent());
    if (unsent > 0) throw unsentError(unsent);
  } finally {
    await worker.close('close');
  }
}
