/** Predefined classes: `\d`, `\W`, `.` and others. */
import { PatternError, type CharTest } from './node.ts';
import { propertyTest, unicodeTest, type PropertyFlags } from './properties.ts';
import type { PatternReader } from './pattern-reader.ts';

const isLineEnd = (code: number): boolean =>
  code === 0x0a || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029;

/** The tests of `.`, depending on flags. */
export const DOT = {
  any: () => true,
  line: (code) => !isLineEnd(code),
  newline: (code) => code !== 0x0a,
} as const satisfies Record<string, CharTest>;

export const isVerticalSpace: CharTest = (code) =>
  (code >= 0x0a && code <= 0x0d) || code === 0x85 || code === 0x2028 || code === 0x2029;

const isHorizontalSpace: CharTest = (code) =>
  code === 0x09 ||
  code === 0x20 ||
  code === 0xa0 ||
  code === 0x1680 ||
  code === 0x180e ||
  (code >= 0x2000 && code <= 0x200a) ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x3000;

const isDigit: CharTest = (code) => code >= 0x30 && code <= 0x39;

const isWord: CharTest = (code) =>
  isDigit(code) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x61 && code <= 0x7a) ||
  code === 0x5f;

const isSpace: CharTest = (code) => code === 0x20 || (code >= 0x09 && code <= 0x0d);

interface Predefined {
  readonly ascii: CharTest;
  /** Used with the flag `U`. */
  readonly unicode: CharTest;
}

const CLASSES: Readonly<Record<string, Predefined>> = {
  d: { ascii: isDigit, unicode: unicodeTest('\\p{Nd}') },
  w: {
    ascii: isWord,
    unicode: unicodeTest('[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]'),
  },
  s: { ascii: isSpace, unicode: unicodeTest('\\p{White_Space}') },
  h: { ascii: isHorizontalSpace, unicode: isHorizontalSpace },
  v: { ascii: isVerticalSpace, unicode: isVerticalSpace },
};

/** The class that the letter of an escape names. A capital letter negates it. Undefined when the letter names no class. */
export function predefinedTest(
  letter: string,
  reader: PatternReader,
  flags: PropertyFlags,
): CharTest | undefined {
  const lower = letter.toLowerCase();
  const test = lower === 'p' ? readProperty(reader, flags) : namedTest(lower, flags);
  if (!test || letter === lower) return test;
  return (code) => !test(code);
}

function namedTest(letter: string, flags: PropertyFlags): CharTest | undefined {
  const found = Object.hasOwn(CLASSES, letter) ? CLASSES[letter] : undefined;
  return flags.unicodeClasses ? found?.unicode : found?.ascii;
}

function readProperty(reader: PatternReader, flags: PropertyFlags): CharTest {
  const first = reader.nextEscaped();
  const name = first === '{' ? reader.until('}') : first;
  if (name === '') throw new PatternError('no property name');
  return propertyTest(name, flags);
}
