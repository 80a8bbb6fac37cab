/** Parses numbers as the English number format of Java does. Spec: functions 1.12, `to_number`. */
import { INT64_MAX, INT64_MIN, type NumberValue } from '../../values/number.ts';
import { double, integer } from '../../values/value.ts';
import { trimmed } from '../trim.ts';
import { standIn } from '../unicode.ts';

const INT64_DIGITS = 19;

/**
 * Parses the number at the start of a text: digits with commas anywhere, a fraction, and an exponent after a capital
 * `E`. The rest is ignored. An integral number within int64 is an Integer, but `-0` is a Double. Returns undefined when
 * the text does not start with a number.
 */
export function parseLocaleNumber(text: string): NumberValue | undefined {
  const source = trimmed(text);
  const negative = source.startsWith('-');
  const scanner = new Scanner(source, negative ? 1 : 0);
  if (scanner.skip('∞')) return negative ? -Infinity : Infinity;
  if (source.startsWith('NaN')) return Number.NaN;
  const whole = scanner.digits(',');
  const fraction = scanner.skip('.') ? scanner.digits('') : '';
  if (whole === '' && fraction === '') return undefined;
  const exponent = scanner.exponent();
  return numberOf(negative, whole + fraction, fraction.length - exponent);
}

class Scanner {
  private readonly text: string;
  private at: number;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  skip(char: string): boolean {
    const found = this.text.startsWith(char, this.at);
    if (found) this.at += char.length;
    return found;
  }

  digits(ignored: string): string {
    let found = '';
    for (; this.at < this.text.length; this.at += 1) {
      const char = this.text.charAt(this.at);
      const digit = digitOf(char);
      if (digit !== undefined) found += digit;
      else if (char !== ignored) break;
    }
    return found;
  }

  /** Returns 0 when there is no exponent, or when it does not fit in 64 bits. */
  exponent(): number {
    if (!this.skip('E')) return 0;
    const negative = this.skip('-');
    const value = Number(this.digits(''));
    if (value >= 2 ** 63) return 0;
    return negative ? -value : value;
  }
}

const DIGIT = /^\p{Nd}$/u;
const isDigit = (code: number): boolean => DIGIT.test(standIn(String.fromCharCode(code)));

/** The value of a decimal digit of any script. Each script has its ten digits in a row, starting with zero. */
function digitOf(char: string): number | undefined {
  const code = char.charCodeAt(0);
  if (code < 0x80) return code >= 0x30 && code <= 0x39 ? code - 0x30 : undefined;
  if (!isDigit(code)) return undefined;
  let zero = code;
  while (isDigit(zero - 1)) zero -= 1;
  return code - zero;
}

/** Makes the number `digits` · 10^-`scale`. */
function numberOf(negative: boolean, digits: string, scale: number): NumberValue {
  let [start, end] = [0, digits.length];
  while (start < end && digits.charAt(start) === '0') start += 1;
  if (start === end) return negative ? double(-0) : 0;
  while (digits.charAt(end - 1) === '0') end -= 1;
  const significant = digits.slice(start, end);
  const places = digits.length - end - scale;
  if (places >= 0 && significant.length + places <= INT64_DIGITS) {
    const magnitude = BigInt(significant) * 10n ** BigInt(places);
    const value = negative ? -magnitude : magnitude;
    if (value >= INT64_MIN && value <= INT64_MAX) return integer(value);
  }
  return double(Number(`${negative ? '-' : ''}${significant}e${places}`));
}
