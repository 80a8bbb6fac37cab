/** `burrow key create`: a key of a database, made by a hub that runs. */
import { askHub, askHubText } from './ask-hub.ts';
import { OperationFault } from './fill-store.ts';

export interface KeyWish {
  readonly url: string;
  readonly rootSecret: string;
  /** Names from the root, by slashes; empty is the root. */
  readonly database: string;
  readonly role: string;
  readonly name: string | undefined;
  /** Make databases on the path that are not there. */
  readonly make: boolean;
}

/** @returns the secret @throws OperationFault */
export async function createKey(wish: KeyWish): Promise<string> {
  const names = wish.database.split('/').filter((name) => name !== '');
  for (const [depth, name] of names.entries()) {
    const secret = secretFor(wish.rootSecret, names.slice(0, depth));
    const isThere = `{"exists":{"database":${JSON.stringify(name)}}}`;
    const made = `{"do":[{"create_database":{"object":{"name":${JSON.stringify(name)}}}},true]}`;
    const query = wish.make ? `{"if":${isThere},"then":true,"else":${made}}` : isThere;
    const found = await askHubText(wish.url, secret, query);
    if (found !== true)
      throw new OperationFault(
        `There is no database '${names.slice(0, depth + 1).join('/')}': make it with --make-database.`,
      );
  }
  const data = wish.name === undefined ? {} : { data: { object: { name: wish.name } } };
  const key = await askHub(wish.url, secretFor(wish.rootSecret, names), {
    create_key: { object: { role: wish.role, ...data } },
  });
  return String((key as { readonly secret?: unknown }).secret);
}

const secretFor = (root: string, names: readonly string[]): string =>
  names.length === 0 ? root : `${root}:${names.join('/')}:admin`;
