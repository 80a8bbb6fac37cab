/** A set of keys that can tell whether any key is in a range. Made for thousands of keys and thousands of calls of `hasIn`. */
import type { Key } from '../../../codec/key.ts';
import { isInRange, type KeyRange } from '../../../codec/ranges.ts';
import { firstIndex } from '../../../store/binary-search.ts';

export class SortedKeys {
  private readonly keys = new Set<Key>();
  private sorted: readonly Key[] = [];
  private unsorted: Key[] = [];
  /** Number of unsorted keys compared since the last sort. */
  private lookedAt = 0;

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
    // Sorts as soon as comparing unsorted keys has cost as much as a sort.
    if (this.lookedAt > this.size) {
      this.sorted = [...this.sorted, ...this.unsorted].sort();
      this.unsorted = [];
      this.lookedAt = 0;
    }
    this.lookedAt += this.unsorted.length;
    const { sorted } = this;
    const first = sorted[firstIndex(sorted.length, (i) => (sorted[i] ?? '') < range.lower)];
    if (first !== undefined && isInRange(first, range)) return true;
    return this.unsorted.some((key) => isInRange(key, range));
  }
}
