/** Letter case for patterns that ignore it: one code point maps to one code point. */
import { lowerCase, upperCase } from '../unicode.ts';

const only = (text: string, otherwise: number): number => {
  const code = text.codePointAt(0) ?? otherwise;
  return text.length === (code > 0xffff ? 2 : 1) ? code : otherwise;
};

const DOTTED_I = 0x130;

/** The capital of a Greek letter with an iota below, for which `toUpperCase` writes the iota beside the letter. */
function withIotaBelow(code: number): number {
  if (code >= 0x1f80 && code <= 0x1faf) return code | 8;
  return code === 0x1fb3 || code === 0x1fc3 || code === 0x1ff3 ? code + 9 : code;
}

export const upperOf = (code: number): number =>
  withIotaBelow(only(upperCase(String.fromCodePoint(code)), code));

export const lowerOf = (code: number): number =>
  code === DOTTED_I ? 0x69 : only(lowerCase(String.fromCodePoint(code)), code);

/** The same code for all cases of a letter. */
export const foldOf = (code: number): number => lowerOf(upperOf(code));

export const isAsciiLetter = (code: number): boolean =>
  (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);

/** The same ASCII letter in the other case. */
export const otherAsciiCase = (code: number): number => code ^ 0x20;
