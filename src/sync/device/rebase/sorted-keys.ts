/** A set of keys that also tells whether any of them is in a range: thousands of pending writes ask it, beside thousands of keys. */
import type { Key } from '../../../codec/key.ts';
import { isInRange, type KeyRange } from '../../../codec/ranges.ts';
import { firstIndex } from '../../../store/binary-search.ts';

/** More keys that were added since are sorted too. */
const UNSORTED_MAX = 256;

export class SortedKeys {
  private readonly keys = new Set<Key>();
  private sorted: readonly Key[] = [];
  private unsorted: Key[] = [];

  get size(): number {
    return this.keys.size;
  }

  has(key: Key): boolean {
    return this.keys.has(key);
  }

  add(key: Key): void {
    if (this.keys.has(key)) return;
    this.keys.add(key);
    this.unsorted.push(key);
  }

  hasIn(range: KeyRange): boolean {
    if (this.unsorted.length > UNSORTED_MAX) {
      this.sorted = [...this.sorted, ...this.unsorted].sort();
      this.unsorted = [];
    }
    const { sorted } = this;
    const first = sorted[firstIndex(sorted.length, (i) => (sorted[i] ?? '') < range.lower)];
    if (first !== undefined && isInRange(first, range)) return true;
    return this.unsorted.some((key) => isInRange(key, range));
  }
}
