/** A text to be matched, as code points, with tests for the assertions of patterns. */
import { CharSet, type Assertion } from './node.ts';
import { unicodeTest } from './properties.ts';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NONE = -1;

const isTerminator = (code: number): boolean =>
  code === NEWLINE ||
  code === CARRIAGE_RETURN ||
  code === 0x85 ||
  code === 0x2028 ||
  code === 0x2029;

const LETTERS_AND_DIGITS = new CharSet(unicodeTest('[\\p{L}\\p{Nd}]'), 1);
const MARKS = new CharSet(unicodeTest('\\p{Mn}'), 1);

/** The words that boundaries separate. */
interface Words {
  readonly chars: CharSet;
  /** Whether combining marks belong to the word of the character before them. */
  readonly marks: boolean;
}
const WORDS: Words = { chars: new CharSet(unicodeTest('[\\p{L}\\p{Nd}_]'), 1), marks: true };
const UNICODE_WORDS: Words = {
  chars: new CharSet(unicodeTest('[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]'), 1),
  marks: false,
};

const UNKNOWN = 0;
const NO = 1;
const YES = 2;

export class Subject {
  readonly codes: Uint32Array;
  /** End of the previous match. */
  lastEnd = 0;
  /** Cached results of `isMarkOfLetter`. */
  private marks: Uint8Array | undefined;

  constructor(text: string) {
    this.codes = codePoints(text);
  }

  get length(): number {
    return this.codes.length;
  }

  slice(from: number, to: number): string {
    let text = '';
    // In pieces, because the number of arguments of a call is limited.
    for (let at = from; at < to; at += 4096) {
      text += String.fromCodePoint(...this.codes.subarray(at, Math.min(at + 4096, to)));
    }
    return text;
  }

  private codeAt(at: number): number {
    return this.codes[at] ?? NONE;
  }

  holds(assertion: Assertion, at: number): boolean {
    return ASSERTIONS[assertion](this, at);
  }

  isLineStart(at: number): boolean {
    if (at === this.length) return false;
    if (at === 0) return true;
    const before = this.codeAt(at - 1);
    return isTerminator(before) && !(before === CARRIAGE_RETURN && this.codeAt(at) === NEWLINE);
  }

  isLineEnd(at: number): boolean {
    if (at === this.length) return true;
    return isTerminator(this.codeAt(at)) && !this.isInsidePair(at);
  }

  private isInsidePair(at: number): boolean {
    return this.codeAt(at) === NEWLINE && at > 0 && this.codeAt(at - 1) === CARRIAGE_RETURN;
  }

  /** Whether the position is at the end, or before the line terminator that ends the text. */
  isLastLineEnd(at: number): boolean {
    const left = this.length - at;
    if (left > 2 || !this.isLineEnd(at)) return false;
    return left < 2 || (this.codeAt(at) === CARRIAGE_RETURN && this.codeAt(at + 1) === NEWLINE);
  }

  isNewlineStart(at: number): boolean {
    return at < this.length && (at === 0 || this.codeAt(at - 1) === NEWLINE);
  }

  isNewlineEnd(at: number): boolean {
    return at === this.length || this.codeAt(at) === NEWLINE;
  }

  isBoundary(at: number, words: Words): boolean {
    return this.isWord(at - 1, words) !== this.isWord(at, words);
  }

  private isWord(at: number, words: Words): boolean {
    if (at < 0 || at >= this.length) return false;
    return words.chars.has(this.codeAt(at)) || (words.marks && this.isMarkOfLetter(at));
  }

  /** Whether there is a combining mark that belongs to a letter or digit before it. */
  private isMarkOfLetter(at: number): boolean {
    this.marks ??= new Uint8Array(this.length);
    let base = at;
    while (base >= 0 && this.marks[base] === UNKNOWN && MARKS.has(this.codeAt(base))) base -= 1;
    const known = this.marks[base] ?? UNKNOWN;
    const isLetter = base >= 0 && base < at && LETTERS_AND_DIGITS.has(this.codeAt(base));
    const answer = known === UNKNOWN ? (isLetter ? YES : NO) : known;
    this.marks.fill(answer, base + 1, at + 1);
    return answer === YES;
  }
}

const ASSERTIONS: Readonly<Record<Assertion, (subject: Subject, at: number) => boolean>> = {
  start: (_, at) => at === 0,
  end: (subject, at) => at === subject.length,
  'end or last terminator': (subject, at) => subject.isLastLineEnd(at),
  'end or last newline': (subject, at) => subject.length - at < 2 && subject.isNewlineEnd(at),
  'line start': (subject, at) => subject.isLineStart(at),
  'line end': (subject, at) => subject.isLineEnd(at),
  'newline start': (subject, at) => subject.isNewlineStart(at),
  'newline end': (subject, at) => subject.isNewlineEnd(at),
  boundary: (subject, at) => subject.isBoundary(at, WORDS),
  'no boundary': (subject, at) => !subject.isBoundary(at, WORDS),
  'unicode boundary': (subject, at) => subject.isBoundary(at, UNICODE_WORDS),
  'no unicode boundary': (subject, at) => !subject.isBoundary(at, UNICODE_WORDS),
  'last match': (subject, at) => at === subject.lastEnd,
};

function codePoints(text: string): Uint32Array {
  const codes = new Uint32Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.codePointAt(at) ?? 0;
    if (code > 0xffff) at += 1;
    codes[count] = code;
    count += 1;
  }
  return codes.subarray(0, count);
}
