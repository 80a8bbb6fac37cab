/** Cache of values parsed from recent rows. Rows are immutable, so a cached value stays valid as long as its row exists. */
import { Generations } from '../../store/generations.ts';

/** Approximate size of the texts whose parsed values are cached. Parsed values take several times as much memory. */
const TEXT_MAX = 4 * 1024 * 1024;

/** A value is cached while its key is referenced elsewhere, and until newer values take its place. */
export class RowMemory<K extends object, V> {
  private readonly cached = new Generations<K, V>(TEXT_MAX, () => new WeakMap<K, V>());

  /** @param size length of the text that the value is parsed from */
  get(key: K, size: number, read: () => V): V {
    const known = this.cached.recent(key);
    if (known !== undefined) return known;
    const value = this.cached.former(key) ?? read();
    if (size <= TEXT_MAX / 16) this.cached.put(key, value, size);
    return value;
  }
}
