/** A map limited by a number of characters. The oldest entries are removed first. */

export const MEMORY_CHARS = 20_000_000;
/** Characters that an entry counts in addition to its value. */
const ENTRY_CHARS = 99;

export class BoundedMemory<V> {
  chars = 0;
  private readonly kept = new Map<string, { value: V; readonly chars: number }>();

  get(name: string): V | undefined {
    return this.kept.get(name)?.value;
  }

  /** Stores a value as the newest entry. */
  set(name: string, value: V, chars: number): void {
    this.delete(name);
    const entry = { value, chars: chars + ENTRY_CHARS };
    this.kept.set(name, entry);
    this.chars += entry.chars;
    for (const oldest of this.kept.keys()) {
      if (this.chars <= MEMORY_CHARS) break;
      this.delete(oldest);
    }
  }

  /** Replaces the value of an entry, if it still exists. Its size and age stay the same. */
  replace(name: string, value: V): void {
    const known = this.kept.get(name);
    if (known) known.value = value;
  }

  delete(name: string): void {
    this.chars -= this.kept.get(name)?.chars ?? 0;
    this.kept.delete(name);
  }
}
