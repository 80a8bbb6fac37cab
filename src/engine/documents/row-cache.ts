/** Cache of what was parsed from recent rows. Rows are immutable, so an entry stays valid as long as its row exists. */
import { Generations } from '../../store/generations.ts';

/** Rough size of the texts whose contents are cached; parsed, they take a multiple of that. */
const TEXT_MAX = 4 * 1024 * 1024;

/** Entries live as long as `K` is referenced elsewhere, and until newer ones take their room. */
export class RowMemory<K extends object, V> {
  private readonly cached = new Generations<K, V>(TEXT_MAX, () => new WeakMap<K, V>());

  /** @param size of the text it is read from */
  get(key: K, size: number, read: () => V): V {
    const known = this.cached.recent(key);
    if (known !== undefined) return known;
    const value = this.cached.former(key) ?? read();
    if (size <= TEXT_MAX / 16) this.cached.put(key, value, size);
    return value;
  }
}
