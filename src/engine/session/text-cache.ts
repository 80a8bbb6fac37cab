/** Cache of parsed queries, bounded by the size of their texts. Texts that may hold a secret are not kept. */
import { mayHoldSecret } from '../access/secret-texts.ts';

const TEXT_MAX = 64 * 1024;
/** The result of a longer text is kept when the text comes a second time: most long texts hold data, and come once. */
const KEPT_AT_ONCE_MAX = 4 * 1024;
const TOTAL_MAX = 4 * 1024 * 1024;

export class TextCache<T> {
  /** Undefined: seen once. */
  private young = new Map<string, T | undefined>();
  private old: ReadonlyMap<string, T | undefined> = new Map();
  private size = 0;

  get(text: string, make: () => T): T {
    if (text.length > TEXT_MAX) return make();
    const young = this.young.get(text);
    if (young !== undefined) return young;
    const isNew = !this.young.has(text);
    // A known text has been checked for secrets.
    if (isNew && !this.old.has(text) && mayHoldSecret(text)) return make();
    const isKept = text.length <= KEPT_AT_ONCE_MAX || !isNew || this.old.has(text);
    const value = this.old.get(text) ?? make();
    this.young.set(text, isKept ? value : undefined);
    if (isNew) this.size += text.length;
    if (this.size > TOTAL_MAX / 2) {
      this.old = this.young;
      this.young = new Map();
      this.size = 0;
    }
    return value;
  }
}
