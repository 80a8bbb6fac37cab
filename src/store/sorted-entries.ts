/** Entries ordered by (entry, primary key), in chunks that versions share until one version changes a chunk (copy on write). */
import { type Key, LOWEST_KEY } from '../codec/key.ts';
import { firstAtOrAfter, firstIndex, isBefore } from './binary-search.ts';
import type { Entry, Range } from './port.ts';

const CHUNK_ENTRIES_MAX = 128;

export class SortedEntries {
  /** No chunk is empty, or longer than `CHUNK_ENTRIES_MAX`. */
  private readonly chunks: Entry[][];
  /** Chunks that no other version shares. */
  private readonly own = new Set<Entry[]>();

  private constructor(chunks: Entry[][]) {
    this.chunks = chunks;
  }

  static empty(): SortedEntries {
    return new SortedEntries([]);
  }

  /** A copy that may be changed. This version must not be changed any more. */
  fork(): SortedEntries {
    return new SortedEntries([...this.chunks]);
  }

  get(entry: Key, key: Key): Entry | undefined {
    if (this.chunks.length === 0) return undefined;
    const { chunk, at } = this.find(entry, key);
    const found = this.chunks[chunk]?.[at];
    return isAt(found, entry, key) ? found : undefined;
  }

  /** Adds an entry, or replaces the one with the same entry and key. */
  put(added: Entry): void {
    const place = this.find(added.entry, added.key);
    const last = this.chunks.length - 1;
    if (place.chunk > last) {
      const isFull = last < 0 || (this.chunks[last]?.length ?? 0) >= CHUNK_ENTRIES_MAX;
      if (isFull) this.insertChunk(this.chunks.length, [added]);
      else this.changeable(last).push(added);
      return;
    }
    const chunk = this.changeable(place.chunk);
    chunk.splice(place.at, isAt(chunk[place.at], added.entry, added.key) ? 1 : 0, added);
    if (chunk.length <= CHUNK_ENTRIES_MAX) return;
    this.insertChunk(place.chunk + 1, chunk.splice(chunk.length >>> 1));
  }

  delete(entry: Key, key: Key): void {
    const { chunk, at } = this.find(entry, key);
    if (!isAt(this.chunks[chunk]?.[at], entry, key)) return;
    const changed = this.changeable(chunk);
    changed.splice(at, 1);
    if (changed.length > 0) return;
    this.chunks.splice(chunk, 1);
    this.own.delete(changed);
  }

  within({ lower, upper, limit, reverse }: Omit<Range, 'space' | 'by' | 'rows'>): Entry[] {
    if (lower >= upper) return [];
    return reverse ? this.downFrom(upper, lower, limit) : this.upFrom(lower, upper, limit);
  }

  private upFrom(lower: Key, upper: Key, limit: number): Entry[] {
    const found: Entry[] = [];
    let { chunk, at } = this.find(lower, LOWEST_KEY);
    for (; found.length < limit; at += 1) {
      const entries = this.chunks[chunk];
      if (!entries) break;
      const entry = entries[at];
      if (!entry) {
        chunk += 1;
        at = -1;
      } else if (entry.entry < upper) found.push(entry);
      else break;
    }
    return found;
  }

  private downFrom(upper: Key, lower: Key, limit: number): Entry[] {
    const found: Entry[] = [];
    let { chunk, at } = this.find(upper, LOWEST_KEY);
    while (found.length < limit) {
      at -= 1;
      if (at < 0) {
        chunk -= 1;
        const before = this.chunks[chunk];
        if (!before) break;
        at = before.length;
        continue;
      }
      const entry = this.chunks[chunk]?.[at];
      if (!entry || entry.entry < lower) break;
      found.push(entry);
    }
    return found;
  }

  /** The position of (entry, key), or where it would be inserted. If it is after all entries, the chunk is past the last one. */
  private find(entry: Key, key: Key): { chunk: number; at: number } {
    const chunk = firstIndex(this.chunks.length, (i) => {
      const last = this.chunks[i]?.at(-1);
      return last !== undefined && isBefore(last, entry, key);
    });
    const entries = this.chunks[chunk];
    const at = entries ? firstAtOrAfter(entries, entry, key) : 0;
    return { chunk, at };
  }

  private changeable(index: number): Entry[] {
    const chunk = this.chunks[index] ?? [];
    if (this.own.has(chunk)) return chunk;
    const copy = [...chunk];
    this.chunks[index] = copy;
    this.own.add(copy);
    return copy;
  }

  private insertChunk(index: number, chunk: Entry[]): void {
    this.chunks.splice(index, 0, chunk);
    this.own.add(chunk);
  }
}

const isAt = (found: Entry | undefined, entry: Key, key: Key): boolean =>
  found?.entry === entry && found.key === key;
