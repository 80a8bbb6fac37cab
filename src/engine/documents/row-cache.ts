/** Cache of what was parsed from recent rows. Rows are immutable, so an entry stays valid as long as its row exists. */

/** Rough size of the texts whose contents are cached; parsed, they take a multiple of that. */
const TEXT_MAX = 4 * 1024 * 1024;

/** Entries live as long as `K` is referenced elsewhere, and until newer ones take their room. */
export class RowMemory<K extends object, V> {
  private young = new WeakMap<K, V>();
  private old = new WeakMap<K, V>();
  private size = 0;

  /** @param size of the text it is read from */
  get(key: K, size: number, read: () => V): V {
    const known = this.young.get(key);
    if (known !== undefined) return known;
    const value = this.old.get(key) ?? read();
    if (size > TEXT_MAX / 16) return value;
    this.young.set(key, value);
    this.size += size;
    if (this.size > TEXT_MAX / 2) {
      this.old = this.young;
      this.young = new WeakMap();
      this.size = 0;
    }
    return value;
  }
}
