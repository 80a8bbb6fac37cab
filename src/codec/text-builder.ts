/**
 * Long texts. One that is built from millions of small parts is flattened each time it has grown by this many characters.
 * JavaScript engines keep a concatenated text as a tree (a rope) until one of its characters is read. Such a tree takes
 * ten times the memory of the text and survives into the old generation of the garbage collector.
 */
const PIECE_CHARS = 4096;

/** Returns the same text, flattened: reading a character makes the engine flatten it. */
const flat = (text: string): string => (text.charCodeAt(0) >= 0 ? text : '');

export interface TextLimit {
  readonly chars: number;
  /** Called as soon as the text is longer, so that such a text is never built. */
  readonly refuse: () => never;
}

/** Builds a text. This takes time in proportion to its length alone, however deeply the parts are nested. */
export class TextBuilder {
  private whole = '';
  /** What was added since `whole` last grew. */
  private text = '';
  private readonly limit: TextLimit;
  private readonly report: ((chars: number) => void) | undefined;

  /** @param report is called now and then with the number of characters added since the last call; it may throw to stop */
  constructor(limit: TextLimit, report?: (chars: number) => void) {
    this.limit = limit;
    this.report = report;
  }

  add(part: string): void {
    this.text += part;
    if (this.text.length < PIECE_CHARS) return;
    this.report?.(this.text.length);
    this.whole += flat(this.text);
    this.text = '';
    this.requireLimit();
  }

  finish(): string {
    this.requireLimit();
    return this.whole + this.text;
  }

  private requireLimit(): void {
    if (this.whole.length + this.text.length > this.limit.chars) this.limit.refuse();
  }
}
