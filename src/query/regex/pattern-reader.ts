/** Reads the code points of a pattern, with quoting resolved, and escapes that stand for one code point. */
import { PatternError } from './node.ts';

/** Added to code points that `\Q…\E` quotes, so that they equal no sign of the pattern syntax. */
const QUOTED = 0x200000;
const CODE = QUOTED - 1;
const END = -1;

const BACKSLASH = 0x5c;
const HASH = 0x23;
const NEWLINE = 0x0a;
const CODE_MAX = 0x10ffff;

const isAlphanumeric = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a);

function undoQuoting(pattern: string): number[] {
  const codes: number[] = [];
  let at = 0;
  while (at < pattern.length) {
    if (pattern.startsWith('\\Q', at)) {
      const end = pattern.indexOf('\\E', at + 2);
      const quoted = pattern.slice(at + 2, end < 0 ? undefined : end);
      for (const char of quoted) codes.push((char.codePointAt(0) ?? 0) | QUOTED);
      at = end < 0 ? pattern.length : end + 2;
    } else {
      const steps = pattern.charAt(at) === '\\' ? 2 : 1;
      for (const char of pattern.slice(at, at + steps)) codes.push(char.codePointAt(0) ?? 0);
      at += steps;
      // The slice after a backslash may have split a surrogate pair.
      at = joinPair(pattern, at, codes);
    }
  }
  return codes;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

function joinPair(pattern: string, at: number, codes: number[]): number {
  const last = codes.at(-1);
  if (last === undefined || !isHigh(last) || at >= pattern.length) return at;
  const whole = pattern.codePointAt(at - 1) ?? 0;
  if (whole <= 0xffff) return at;
  codes[codes.length - 1] = whole;
  return at + 1;
}

const ESCAPES: Readonly<Record<string, number>> = {
  a: 0x07,
  e: 0x1b,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
};

export class PatternReader {
  private readonly codes: readonly number[];
  private at = 0;
  /** Flag `x`: white space and comments are ignored. */
  comments = false;

  constructor(pattern: string) {
    this.codes = undoQuoting(pattern);
  }

  /** The next sign of the pattern syntax. Empty for a quoted code point and at the end. */
  peek(): string {
    this.skipIgnored();
    return this.sign(this.at);
  }

  /** The sign after the next one. */
  peekSecond(): string {
    return this.sign(this.at + 1);
  }

  private sign(at: number): string {
    const code = this.codes[at] ?? END;
    return code < 0 || code >= QUOTED ? '' : String.fromCodePoint(code);
  }

  get isAtEnd(): boolean {
    this.skipIgnored();
    return this.at >= this.codes.length;
  }

  private skipIgnored(): void {
    if (!this.comments) return;
    for (;;) {
      const code = this.codes[this.at] ?? END;
      if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) this.at += 1;
      else if (code === HASH) this.skipComment();
      else return;
    }
  }

  private skipComment(): void {
    while (this.at < this.codes.length && this.codes[this.at] !== NEWLINE) this.at += 1;
  }

  /** Consumes `sign` if it is next. */
  take(sign: string): boolean {
    const found = this.peek() === sign;
    if (found) this.at += 1;
    return found;
  }

  /** Consumes `signs` if they are next, without ignored characters between them. */
  takeAll(signs: string): boolean {
    this.skipIgnored();
    const found = Array.from(signs).every((sign, index) => this.sign(this.at + index) === sign);
    if (found) this.at += signs.length;
    return found;
  }

  /** Consumes the next code point, whatever its meaning. */
  next(): number {
    this.skipIgnored();
    const code = this.codes[this.at];
    if (code === undefined) throw new PatternError('unexpected end');
    this.at += 1;
    return code & CODE;
  }

  /** Consumes the code point after a backslash, where white space is not ignored. */
  nextEscaped(): string {
    const code = this.codes[this.at];
    if (code === undefined) throw new PatternError('unexpected end');
    this.at += 1;
    return String.fromCodePoint(code & CODE);
  }

  /** Consumes the text up to and including `end`. Returns it without `end`. */
  until(end: string): string {
    let text = '';
    for (;;) {
      const char = this.nextEscaped();
      if (char === end) return text;
      text += char;
    }
  }

  /** Consumes all digits at this position. */
  digits(): string {
    let text = '';
    while (/^[0-9]$/.test(this.sign(this.at))) {
      text += this.sign(this.at);
      this.at += 1;
    }
    return text;
  }

  /**
   * The code point of an escape whose first letter has been read.
   * @throws PatternError for letters without a meaning, and for escapes that match more than one code point
   */
  escapedCode(letter: string): number {
    const fixed = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
    if (fixed !== undefined) return fixed;
    if (letter === '0') return this.octal();
    if (letter === 'x') return this.hexadecimal();
    if (letter === 'u') return this.utf16();
    if (letter === 'c') return this.rawNext() ^ 0x40;
    const code = letter.codePointAt(0) ?? 0;
    if (isAlphanumeric(code)) throw new PatternError(`no escape ${letter}`);
    return code;
  }

  private rawNext(): number {
    return this.nextEscaped().codePointAt(0) ?? 0;
  }

  /** Reads up to three octal digits, at most 0377. */
  private octal(): number {
    let value = 0;
    let count = 0;
    while (count < 3 && /^[0-7]$/.test(this.sign(this.at))) {
      const next = value * 8 + Number(this.sign(this.at));
      if (next > 0xff) break;
      value = next;
      this.at += 1;
      count += 1;
    }
    if (count === 0) throw new PatternError('no octal digit');
    return value;
  }

  private hexadecimal(): number {
    if (this.sign(this.at) !== '{') return this.hexDigits(2);
    this.at += 1;
    const digits = this.until('}');
    const code = /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : CODE_MAX + 1;
    if (code > CODE_MAX) throw new PatternError('no code point');
    return code;
  }

  private hexDigits(count: number): number {
    let digits = '';
    for (let index = 0; index < count; index += 1) digits += this.sign(this.at + index);
    if (digits.length !== count || !/^[0-9a-fA-F]+$/.test(digits)) {
      throw new PatternError('not enough hexadecimal digits');
    }
    this.at += count;
    return Number.parseInt(digits, 16);
  }

  /** Two escapes that form a surrogate pair are one code point. */
  private utf16(): number {
    const high = this.hexDigits(4);
    const isPairOpen =
      isHigh(high) && this.codes[this.at] === BACKSLASH && this.sign(this.at + 1) === 'u';
    if (!isPairOpen) return high;
    const start = this.at;
    this.at += 2;
    const low = this.hexDigits(4);
    if (low >= 0xdc00 && low < 0xe000) return (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
    this.at = start;
    return high;
  }
}
