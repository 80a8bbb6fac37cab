/**
 * Stores the hub's token between two visits, in a database of its own, encrypted with a key that the browser does not export
 * (non-extractable). Scripts of the page cannot read the token through Burrow, nor find its text in stored data.
 */
import { Dexie } from 'dexie';
import { utf8Bytes } from '../../src/codec/utf8.ts';
import { random } from '../browser/random.ts';
import { deleteDatabase } from '../store/idb-connection.ts';
import { inOneTransaction } from '../store/one-transaction.ts';

interface Kept {
  readonly name: 'token';
  readonly key: CryptoKey;
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly bytes: ArrayBuffer;
}

const ALGORITHM = 'AES-GCM';

/** `database` is the name of a database. */
export interface TokenVault {
  readonly keep: (database: string, token: string) => Promise<void>;
  readonly kept: (database: string) => Promise<string | undefined>;
  readonly forget: (database: string) => Promise<void>;
}

export const vaultName = (database: string): string => `${database}:token`;

async function keepToken(database: string, token: string): Promise<void> {
  const key = await crypto.subtle.generateKey({ name: ALGORITHM, length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
  const iv = random(12);
  const bytes = await crypto.subtle.encrypt({ name: ALGORITHM, iv }, key, utf8Bytes(token));
  const kept: Kept = { name: 'token', key, iv, bytes };
  await inVault(database, 'readwrite', (vault) => vault.put(kept));
}

async function keptToken(database: string): Promise<string | undefined> {
  const kept = await inVault(database, 'readonly', (vault): IDBRequest<Kept | undefined> =>
    vault.get('token'),
  );
  if (!kept) return undefined;
  const { key, iv, bytes } = kept;
  return new TextDecoder().decode(await crypto.subtle.decrypt({ name: ALGORITHM, iv }, key, bytes));
}

async function inVault<T>(
  database: string,
  mode: IDBTransactionMode,
  ask: (vault: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const vault = new Dexie(vaultName(database), { autoOpen: false, cache: 'disabled' });
  vault.version(1).stores({ kept: 'name' });
  try {
    await vault.open();
    return await inOneTransaction(vault.backendDB(), 'kept', mode, ask);
  } finally {
    vault.close();
  }
}

export const browserVault: TokenVault = {
  keep: keepToken,
  kept: keptToken,
  // A frozen tab may block the deletion, which then fails with an error.
  forget: (database) => deleteDatabase(vaultName(database)),
};
