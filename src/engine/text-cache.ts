/** What was made of a text lately: parsed queries. Bounded by the size of the texts. */
const TEXT_MAX = 64 * 1024;
const TOTAL_MAX = 4 * 1024 * 1024;

export class TextCache<T> {
  private young = new Map<string, T>();
  private old = new Map<string, T>();
  private size = 0;

  get(text: string, make: () => T): T {
    if (text.length > TEXT_MAX) return make();
    const young = this.young.get(text);
    if (young !== undefined) return young;
    const value = this.old.get(text) ?? make();
    this.young.set(text, value);
    this.size += text.length;
    if (this.size > TOTAL_MAX / 2) {
      this.old = this.young;
      this.young = new Map();
      this.size = 0;
    }
    return value;
  }
}
