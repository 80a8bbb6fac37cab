/** The language of `format`: text with specifiers like `%-8.2f` and `%2$s`. Spec: functions 1.8. */
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
  /** The result in capitals. */
  readonly upper: boolean;
  /** Letter after `%t`; the empty string for `%t` alone and everything else. */
  readonly field: string;
  readonly flags: ReadonlySet<FormatFlag>;
  readonly width: number;
  readonly precision: number | undefined;
  /** From 1; undefined: the one after that of the last specifier without. */
  readonly index: number | undefined;
  /** Stands for an argument. */
  readonly takesValue: boolean;
}

export type FormatPart = string | Specifier;

/** The pattern is none; `specifier` is what could not be read. */
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

/** Letters that exist as capitals too. */
const CAPITALS = new Set(['X', 'E', 'G', 'S', 'T']);

/** What `%t` may be followed by. */
const TIME_FIELDS = new Set('HIklMSLNpzZsQBbhAaCYyjmdeRTrDFc');

// Counts are bounded, so that no text makes the platform read its digits again and again.
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
