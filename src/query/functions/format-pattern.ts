/** Parses the patterns of `format`: text with specifiers such as `%-8.2f` and `%2$s`. Spec: functions 1.8. */
import { LIMITS } from '../../limits.ts';

export type FormatFlag = '-' | '#' | '+' | ' ' | '0' | ',' | '(';

export type Conversion =
  | 'decimal'
  | 'octal'
  | 'hexadecimal'
  | 'fixed'
  | 'scientific'
  | 'general'
  | 'text'
  | 'boolean'
  | 'time'
  | 'old json'
  | 'json'
  | 'percent'
  | 'newline';

export interface Specifier {
  readonly conversion: Conversion;
  /** The result is converted to upper case. */
  readonly upper: boolean;
  /** The letter after `%t`. Empty for `%t` alone and for all other conversions. */
  readonly field: string;
  readonly flags: ReadonlySet<FormatFlag>;
  readonly width: number;
  readonly precision: number | undefined;
  /** Number of the argument, from 1. Undefined: the argument after that of the previous specifier without a number. */
  readonly index: number | undefined;
  /** False for `%%` and `%n`, which use no argument. */
  readonly takesValue: boolean;
}

export type FormatPart = string | Specifier;

/** Thrown for an invalid pattern. `specifier` is the text that could not be parsed. */
export class FormatError extends Error {
  readonly specifier: string;
  constructor(specifier: string) {
    super(`no conversion ${specifier}`);
    this.name = 'FormatError';
    this.specifier = specifier;
  }
}

interface Rule {
  readonly conversion: Conversion;
  readonly flags: string;
  readonly precision: boolean;
}

const CONVERSIONS: Readonly<Record<string, Rule>> = {
  d: { conversion: 'decimal', flags: '-+ 0,(', precision: false },
  o: { conversion: 'octal', flags: '-#0', precision: false },
  x: { conversion: 'hexadecimal', flags: '-#0', precision: false },
  f: { conversion: 'fixed', flags: '-#+ 0,(', precision: true },
  e: { conversion: 'scientific', flags: '-#+ 0(', precision: true },
  g: { conversion: 'general', flags: '-+ 0,(', precision: true },
  s: { conversion: 'text', flags: '-', precision: true },
  b: { conversion: 'boolean', flags: '-', precision: true },
  t: { conversion: 'time', flags: '-', precision: false },
  '@': { conversion: 'old json', flags: '-', precision: true },
  '^': { conversion: 'json', flags: '-', precision: true },
  '%': { conversion: 'percent', flags: '-', precision: false },
  n: { conversion: 'newline', flags: '', precision: false },
};

/** Letters that may also be written as capitals. */
const CAPITALS = new Set(['X', 'E', 'G', 'S', 'T']);

/** The letters that may follow `%t`. */
const TIME_FIELDS = new Set('HIklMSLNpzZsQBbhAaCYyjmdeRTrDFc');

// The number of digits is limited, so that no text makes the regular expression read its digits again and again.
const SPECIFIER =
  /%(?:(\d{1,10})\$)?([-#+ 0,(]{0,8})([1-9]\d{0,9})?(?:\.(\d{1,10}))?(?:([tT])([a-zA-Z])?|([a-zA-Z%@^]))/y;
const ANYTHING = /%[^a-zA-Z%@^]{0,32}[a-zA-Z%@^]?/y;

/** @throws FormatError */
export function parseFormat(format: string): readonly FormatPart[] {
  const parts: FormatPart[] = [];
  let at = 0;
  for (;;) {
    const percent = format.indexOf('%', at);
    if (percent < 0) {
      parts.push(format.slice(at));
      return parts;
    }
    if (percent > at) parts.push(format.slice(at, percent));
    SPECIFIER.lastIndex = percent;
    const match = SPECIFIER.exec(format);
    if (!match) throw new FormatError(textAt(format, percent));
    parts.push(specifierOf(match));
    at = percent + match[0].length;
  }
}

function textAt(format: string, at: number): string {
  ANYTHING.lastIndex = at;
  return ANYTHING.exec(format)?.[0] ?? '%';
}

function specifierOf(match: RegExpExecArray): Specifier {
  const [whole, index, flags = '', width, precision, time, field = '', other] = match;
  const letter = time ?? other ?? '';
  const upper = CAPITALS.has(letter);
  const key = upper ? letter.toLowerCase() : letter;
  const rule = Object.hasOwn(CONVERSIONS, key) ? CONVERSIONS[key] : undefined;
  const specifier = {
    upper,
    field,
    flags: new Set(flags) as Set<FormatFlag>,
    width: Number(width ?? 0),
    precision: precision === undefined ? undefined : Number(precision),
    index: index === undefined ? undefined : Number(index),
    takesValue: rule?.conversion !== 'percent' && rule?.conversion !== 'newline',
  };
  if (!rule || !isAllowed(specifier, rule) || specifier.flags.size < flags.length) {
    throw new FormatError(whole);
  }
  return { ...specifier, conversion: rule.conversion };
}

function isAllowed(specifier: Omit<Specifier, 'conversion'>, rule: Rule): boolean {
  const { flags, width, precision, field } = specifier;
  for (const flag of flags) if (!rule.flags.includes(flag)) return false;
  if (field !== '' && !TIME_FIELDS.has(field)) return false;
  if ((flags.has('-') || flags.has('0')) && width === 0) return false;
  if ((flags.has('-') && flags.has('0')) || (flags.has('+') && flags.has(' '))) return false;
  if (width > (rule.conversion === 'newline' ? 0 : LIMITS.formatWidthChars)) return false;
  return precision === undefined || (rule.precision && precision <= LIMITS.formatPrecisionDigits);
}
