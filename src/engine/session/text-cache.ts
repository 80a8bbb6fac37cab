/** Cache of parsed queries, limited by the size of their texts. Texts that may contain a secret are not cached. */
import { Generations } from '../../store/generations.ts';
import { mayHoldSecret } from '../access/secret-texts.ts';

const TEXT_MAX = 64 * 1024;
/** The result of a longer text is cached only when the text arrives a second time: most long texts contain data and arrive once. */
const KEPT_AT_ONCE_MAX = 4 * 1024;
/** Total length of the cached texts. Their parsed form takes about ten times as much memory. */
const TOTAL_MAX = 2 * 1024 * 1024;

/** Undefined: the text was seen once, and its result was not cached. */
interface Seen<T> {
  readonly value: T | undefined;
}

export class TextCache<T> {
  private readonly cached = new Generations(TOTAL_MAX, () => new Map<string, Seen<T>>());

  get(text: string, make: () => T): T {
    if (text.length > TEXT_MAX) return make();
    const recent = this.cached.recent(text);
    if (recent?.value !== undefined) return recent.value;
    const seen = recent ?? this.cached.former(text);
    // A text that was seen before has already been checked for secrets.
    if (!seen && mayHoldSecret(text)) return make();
    const value = seen?.value ?? make();
    const isKept = text.length <= KEPT_AT_ONCE_MAX || seen !== undefined;
    this.cached.put(text, { value: isKept ? value : undefined }, recent ? 0 : text.length);
    return value;
  }
}
