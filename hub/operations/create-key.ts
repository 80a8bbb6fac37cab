/** `burrow key create`: creates a key for a database of a running hub. */
import { queryHub, queryHubText } from './query-hub.ts';
import { OperationFault } from './operation-fault.ts';

export interface KeyRequest {
  readonly url: string;
  readonly rootSecret: string;
  /** The names of the databases from the root, separated by slashes. Empty means the root database. */
  readonly database: string;
  readonly role: string;
  readonly name: string | undefined;
  /** Create missing databases of the path. */
  readonly makeDatabases: boolean;
}

/** @returns the secret of the key @throws OperationFault */
export async function createKey(request: KeyRequest): Promise<string> {
  const names = request.database.split('/').filter((name) => name !== '');
  for (const [depth, name] of names.entries()) {
    const secret = secretFor(request.rootSecret, names.slice(0, depth));
    const exists = `{"exists":{"database":${JSON.stringify(name)}}}`;
    const made = `{"do":[{"create_database":{"object":{"name":${JSON.stringify(name)}}}},true]}`;
    const query = request.makeDatabases ? `{"if":${exists},"then":true,"else":${made}}` : exists;
    const found = await queryHubText(request.url, secret, query);
    if (found !== true)
      throw new OperationFault(
        `There is no database '${names.slice(0, depth + 1).join('/')}': create it with --make-database.`,
      );
  }
  const data = request.name === undefined ? {} : { data: { object: { name: request.name } } };
  const query = { create_key: { object: { role: request.role, ...data } } };
  // Not retried if the first attempt may have had an effect: a second key would stay for ever, and nobody would know its secret.
  const key = await queryHub(request.url, secretFor(request.rootSecret, names), query, {
    once: true,
  });
  return String((key as { readonly secret?: unknown }).secret);
}

const secretFor = (root: string, names: readonly string[]): string =>
  names.length === 0 ? root : `${root}:${names.join('/')}:admin`;
