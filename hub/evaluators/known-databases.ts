/**
 * In which database credentials act, as answers told: known before the next query of each is read. With a scope a credential may act in
 * several: the first counts, so that no scope is a share of its own.
 */
const NAMES_MAX = 10_000;

export class KnownDatabases {
  private readonly byName = new Map<string, string>();

  /** @param name of the credential @param path as in `QueryAnswer.database` */
  note(name: string, path: readonly string[]): void {
    if (this.byName.has(name)) return;
    this.byName.set(name, `database ${path.join('/') || '(root)'}`);
    if (this.byName.size <= NAMES_MAX) return;
    const [first] = this.byName.keys();
    if (first !== undefined) this.byName.delete(first);
  }

  /** `database a/b`; undefined before its first answer. */
  of(name: string): string | undefined {
    return this.byName.get(name);
  }
}
