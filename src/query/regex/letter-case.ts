/** Letter case for patterns that ignore it: one code point maps to one code point. */

const only = (text: string, otherwise: number): number => {
  const code = text.codePointAt(0) ?? otherwise;
  return text.length === (code > 0xffff ? 2 : 1) ? code : otherwise;
};

const DOTTED_I = 0x130;

export const upperOf = (code: number): number =>
  only(String.fromCodePoint(code).toUpperCase(), code);

export const lowerOf = (code: number): number =>
  code === DOTTED_I ? 0x69 : only(String.fromCodePoint(code).toLowerCase(), code);

/** The same code for all cases of a letter. */
export const foldOf = (code: number): number => lowerOf(upperOf(code));

export const isAsciiLetter = (code: number): boolean =>
  (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);

/** The same ASCII letter in the other case. */
export const otherAsciiCase = (code: number): number => code ^ 0x20;
