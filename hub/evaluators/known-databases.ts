/**
 * The database in which each credential acts, learned from answers, so that it is known before the next query of the credential
 * is parsed. A scoped credential may act in several databases: only the first counts, so that scopes do not get shares of their
 * own.
 */
import { remember } from '../../src/values/remember.ts';

const NAMES_MAX = 10_000;

export class KnownDatabases {
  private readonly byName = new Map<string, string>();

  /** @param name the name of the credential @param path as in `QueryAnswer.database` */
  note(name: string, path: readonly string[]): void {
    const database = this.of(name) ?? `database ${path.join('/') || '(root)'}`;
    remember(this.byName, name, database, NAMES_MAX);
  }

  /** @returns a name such as `database a/b`; undefined before the first answer to this credential */
  of(name: string): string | undefined {
    return this.byName.get(name);
  }
}
