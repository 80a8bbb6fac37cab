/** Names under which databases are stored: the name that the app gave, with a hash of the identity if there is one. */
import { messageOf } from './connection/start-worker.ts';
import { refusalError, Unsupported, UsageError } from './errors.ts';
import { requireSecure } from './require-secure.ts';
import { toBase64 } from './queries/values.ts';

/** A database on this device. */
export interface StoredDatabase {
  readonly name: string;
  /** Hash of the identity, from which it cannot be read; undefined if the database was opened without an identity. */
  readonly identityHash: string | undefined;
}

const STORED_NAME = /^(.*) #([\w-]{43})$/s;
/**
 * Matches invalid names. A lone surrogate has no UTF-8 form, which file names need; the suffixes belong to the stores of a database's files
 * and token.
 */
const NO_NAME = /\p{Surrogate}|:(?:files|token)$/u;
/** Iterations of PBKDF2: whoever sees the hash can only guess identities, and each guess takes a while. */
const ROUNDS = 100_000;

export function checkName(name: unknown): asserts name is string {
  if (typeof name !== 'string' || !name || STORED_NAME.test(name) || NO_NAME.test(name))
    throw new UsageError(
      'The name of a database must be a well-formed string that is not empty and does not end with " #" and a hash, ":files" or ":token".',
    );
}

export async function storedName(name: string, identity: string | undefined): Promise<string> {
  if (identity === undefined) return name;
  return nameOf(name, await hashOf(name, identity));
}

export const nameOf = (name: string, hash: string): string => `${name} #${hash}`;

async function hashOf(name: string, identity: string): Promise<string> {
  requireSecure('The option `identity`');
  const utf8 = new TextEncoder();
  const text = utf8.encode(identity.normalize('NFC'));
  const key = await crypto.subtle.importKey('raw', text, 'PBKDF2', false, ['deriveBits']);
  const salt = utf8.encode(`burrow ${name}`);
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: ROUNDS };
  const bits = await crypto.subtle.deriveBits(how, key, 256);
  return toBase64(new Uint8Array(bits))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/**
 * Lists the databases of this origin that were opened under a name: the one without an identity, and one for each identity.
 * @throws Unsupported when the browser cannot list databases; UnavailableError on a page without storage, such as a frame without an origin
 * @example
 * for (const { name, identityHash } of await listDatabases('field-notes')) {
 *   console.log(name, identityHash ? 'of somebody' : 'of nobody');
 * }
 */
export async function listDatabases(name: string): Promise<readonly StoredDatabase[]> {
  checkName(name);
  const factory = globalThis.indexedDB as Partial<IDBFactory> | undefined;
  if (!factory?.databases)
    throw new Unsupported('Databases can only be listed in a browser with `indexedDB.databases`.');
  const stored = await listed(factory as IDBFactory);
  return stored.flatMap(({ name: found = '' }) => {
    if (found === name) return [{ name, identityHash: undefined }];
    const [, of, identityHash] = STORED_NAME.exec(found) ?? [];
    return of === name ? [{ name, identityHash }] : [];
  });
}

async function listed(factory: IDBFactory): Promise<readonly IDBDatabaseInfo[]> {
  try {
    return await factory.databases();
  } catch (cause) {
    throw refusalError('storage_unavailable', `No database can be listed: ${messageOf(cause)}`, {
      cause,
    });
  }
}
