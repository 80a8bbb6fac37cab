/** Character properties by their names in Java's patterns. */
import { isKnownProperty, knownOr, standIn } from '../unicode.ts';
import { PatternError, type CharTest } from './node.ts';

/** Compiled on first use: compiling properties that few patterns need would slow down each start of a worker. */
export const unicodeTest = (property: string, counts = standIn): CharTest => {
  let pattern: RegExp | undefined;
  return (code) =>
    (pattern ??= new RegExp(`^${property}$`, 'u')).test(counts(String.fromCodePoint(code)));
};

const asciiTest = (chars: string): CharTest => {
  const pattern = new RegExp(`^[${chars}]$`);
  return (code) => code < 0x80 && pattern.test(String.fromCharCode(code));
};

/** POSIX classes, ASCII only. */
const POSIX: Readonly<Record<string, string>> = {
  Lower: 'a-z',
  Upper: 'A-Z',
  ASCII: '\\0-\\x7f',
  Alpha: 'a-zA-Z',
  Digit: '0-9',
  Alnum: '0-9a-zA-Z',
  Punct: '!-\\/:-@\\[-`{-~',
  Graph: '!-~',
  Print: ' -~',
  Blank: ' \\t',
  Cntrl: '\\0-\\x1f\\x7f',
  XDigit: '0-9a-fA-F',
  Space: '\\t-\\r ',
};

/** The meaning of the same names with the flag `U`. */
const UNICODE_POSIX: Readonly<Record<string, string>> = {
  Lower: '\\p{Lowercase}',
  Upper: '\\p{Uppercase}',
  Alpha: '\\p{Alphabetic}',
  Digit: '\\p{Nd}',
  Alnum: '[\\p{Alphabetic}\\p{Nd}]',
  Punct: '\\p{P}',
  Graph: '[^\\p{White_Space}\\p{Cc}\\p{Cs}\\p{Cn}]',
  Print: '(?:[^\\p{White_Space}\\p{Cc}\\p{Cs}\\p{Cn}]|\\p{Zs})',
  Blank: '[\\p{Zs}\\t]',
  Cntrl: '\\p{Cc}',
  XDigit: '[\\p{Nd}\\p{Hex_Digit}]',
  Space: '\\p{White_Space}',
};

/**
 * Binary properties, written after `Is`, in upper or lower case. The names of POSIX classes are among them, with the
 * meaning that they have with the flag `U`.
 */
const BINARY: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(UNICODE_POSIX).map(([name, chars]) => [name.toUpperCase(), chars]),
  ),
  ALPHABETIC: '\\p{Alphabetic}',
  LETTER: '\\p{L}',
  IDEOGRAPHIC: '\\p{Ideographic}',
  LOWERCASE: '\\p{Lowercase}',
  UPPERCASE: '\\p{Uppercase}',
  TITLECASE: '\\p{Lt}',
  WHITE_SPACE: '\\p{White_Space}',
  WHITESPACE: '\\p{White_Space}',
  CONTROL: '\\p{Cc}',
  PUNCTUATION: '\\p{P}',
  HEX_DIGIT: '[\\p{Nd}\\p{Hex_Digit}]',
  HEXDIGIT: '[\\p{Nd}\\p{Hex_Digit}]',
  ASSIGNED: '\\p{Assigned}',
  NONCHARACTER_CODE_POINT: '\\p{Noncharacter_Code_Point}',
  NONCHARACTERCODEPOINT: '\\p{Noncharacter_Code_Point}',
  WORD: '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]',
  JOIN_CONTROL: '\\p{Join_Control}',
  JOINCONTROL: '\\p{Join_Control}',
};

/** Methods of Java's `Character`, for example `\p{javaLowerCase}`. */
const JAVA: Readonly<Record<string, string>> = {
  javaLowerCase: '\\p{Lowercase}',
  javaUpperCase: '\\p{Uppercase}',
  javaTitleCase: '\\p{Lt}',
  javaAlphabetic: '\\p{Alphabetic}',
  javaIdeographic: '\\p{Ideographic}',
  javaLetter: '\\p{L}',
  javaDigit: '\\p{Nd}',
  javaLetterOrDigit: '[\\p{L}\\p{Nd}]',
  javaDefined: '\\P{Cn}',
  javaSpaceChar: '\\p{Z}',
  javaWhitespace:
    '[\\t-\\r\\x1c-\\x1f \\u1680\\u2000-\\u2006\\u2008-\\u200a\\u2028\\u2029\\u205f\\u3000]',
  javaISOControl: '\\p{Cc}',
  javaMirrored: '\\p{Bidi_Mirrored}',
};

const CATEGORIES = new Set(
  'L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Cs Co Cn LC'.split(
    ' ',
  ),
);

/** Categories without a Unicode property of their own. */
const OTHER_CATEGORIES: Readonly<Record<string, string>> = {
  LD: '[\\p{L}\\p{Nd}]',
  L1: '[\\0-\\xff]',
  all: '[^]',
};

// If letter case is ignored, these names match cased letters of every case.
const CASED_CATEGORIES = new Set(['Lu', 'Ll', 'Lt']);
const CASED_NAMES = new Set('Lower Upper javaLowerCase javaUpperCase javaTitleCase'.split(' '));
const CASED_BINARY = new Set('LOWER UPPER LOWERCASE UPPERCASE TITLECASE'.split(' '));
const CASED = '[\\p{Lowercase}\\p{Uppercase}\\p{Lt}]';

export interface PropertyFlags {
  readonly ignoreCase: boolean;
  readonly unicodeClasses: boolean;
}

/** @throws PatternError for names that Java does not know, for blocks (`InGreek`) and for identifiers */
export function propertyTest(name: string, flags: PropertyFlags): CharTest {
  const [kind = '', value] = name.split('=', 2);
  if (value !== undefined) return namedTest(kind.toLowerCase(), value, flags);
  if (name.startsWith('Is')) return isTest(name.slice(2), flags);
  return categoryTest(name, flags) ?? unknown(name);
}

const unknown = (name: string): never => {
  throw new PatternError(`no property ${name}`);
};

function namedTest(kind: string, value: string, flags: PropertyFlags): CharTest {
  if (kind === 'sc' || kind === 'script') return scriptTest(value) ?? unknown(value);
  if (kind !== 'gc' && kind !== 'general_category') return unknown(kind);
  return categoryTest(value, flags) ?? unknown(value);
}

function isTest(name: string, flags: PropertyFlags): CharTest {
  const upper = name.toUpperCase();
  const binary = own(BINARY, upper);
  if (binary !== undefined) {
    return unicodeTest(flags.ignoreCase && CASED_BINARY.has(upper) ? CASED : binary);
  }
  return categoryTest(name, flags) ?? scriptTest(name) ?? unknown(name);
}

const own = (table: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

function categoryTest(name: string, flags: PropertyFlags): CharTest | undefined {
  const posix = own(POSIX, name);
  if (flags.ignoreCase && CASED_NAMES.has(name)) {
    return posix !== undefined && !flags.unicodeClasses ? asciiTest('a-zA-Z') : unicodeTest(CASED);
  }
  const unicode = flags.unicodeClasses ? own(UNICODE_POSIX, name) : undefined;
  if (unicode !== undefined) return unicodeTest(unicode);
  if (posix !== undefined) return asciiTest(posix);
  if (CATEGORIES.has(name)) {
    return unicodeTest(flags.ignoreCase && CASED_CATEGORIES.has(name) ? '\\p{LC}' : `\\p{${name}}`);
  }
  const other = own(OTHER_CATEGORIES, name) ?? own(JAVA, name);
  return other === undefined ? undefined : unicodeTest(other);
}

// Java knows no private codes (`Qaai`).
const SCRIPT_NAME = /^(?!qaa)[A-Za-z]+(?:_[A-Za-z]+)*$/i;

/** A script by its full or four-letter name, in upper or lower case. */
function scriptTest(name: string): CharTest | undefined {
  if (!SCRIPT_NAME.test(name)) return undefined;
  const proper = name
    .toLowerCase()
    .replace(/(?:^|_)[a-z]|(?<=^sign)w/g, (start) => start.toUpperCase());
  const property = `\\p{Script=${proper}}`;
  try {
    // Only compiling the property shows whether the script exists.
    return isKnownProperty(property) ? unicodeTest(property, knownOr) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
