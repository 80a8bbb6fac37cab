/** What was read out of rows lately. A row is never changed, only followed by another: what is in it stays true as long as it is held. */

/** Text of rows whose contents are remembered, about; parsed it takes some times that. */
const TEXT_MAX = 4 * 1024 * 1024;

/** Remembers for as long as `K` is held by somebody else, and not for more than about so many rows. */
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
