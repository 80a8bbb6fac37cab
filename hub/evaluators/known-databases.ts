/**
 * In which database credentials act, as answers showed: known before the next query of each is read. With a scope a credential may act in
 * several: the first counts, so that no scope is a share of its own.
 */
import { Generations } from '../../src/store/generations.ts';

const NAMES_MAX = 10_000;

export class KnownDatabases {
  private readonly byName = new Generations<string, string>(NAMES_MAX, () => new Map());

  /** @param name of the credential @param path as in `QueryAnswer.database` */
  note(name: string, path: readonly string[]): void {
    if (this.byName.recent(name) !== undefined) return;
    this.byName.put(name, this.of(name) ?? `database ${path.join('/') || '(root)'}`, 1);
  }

  /** `database a/b`; undefined before its first answer. */
  of(name: string): string | undefined {
    return this.byName.recent(name) ?? this.byName.former(name);
  }
}
