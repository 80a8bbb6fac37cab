import { expect, test } from 'vitest';
import { shown } from './testing/pure-session.ts';

/** Letters of Unicode 14 (with a capital), 16 (composed of two others) and 17 (with a capital and a small letter). */
const LATER = ['\ua7d9', '\u{16d68}', '\u{16ea0}', '\u{16ebb}'];

test('characters later than Unicode 13 have no case and no normal form', () => {
  for (const char of LATER) {
    const calls = ['lowercase', 'uppercase', 'titlecase', 'casefold'].map((call) => ({
      [call]: char,
    }));
    const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'].map((normalizer) => ({
      casefold: char,
      normalizer,
    }));
    expect(shown([...calls, ...forms])).toBe(JSON.stringify(Array(8).fill(char)));
  }
});

test('a letter whose other case is later than Unicode 13 has no case', () => {
  expect(shown({ uppercase: 'a\u0264\u019bb' })).toBe('"A\u0264\u019bB"');
  expect(shown({ findstrregex: '\ua7cb', pattern: '(?iu)\u0264' })).toBe('[]');
});

test('characters between later ones change as in texts of their own', () => {
  expect(shown({ lowercase: 'A\u03a3\ua7d0\u03a3A' })).toBe('"aς\ua7d0σa"');
  expect(shown({ casefold: 'E\u0301\ua7d0E\u0301' })).toBe('"é\ua7d0é"');
});

test('patterns find later characters as unassigned ones', () => {
  const finds = (pattern: string, text: string) => shown({ containsstrregex: text, pattern });
  for (const char of LATER) {
    expect(finds('[\\p{L}\\p{M}\\p{IsAlphabetic}\\p{javaDefined}]', char)).toBe('false');
    expect(finds('^\\p{Cn}\\P{L}?$', char)).toBe('true');
  }
  expect(finds('\\p{IsSignWriting}', '\u{1d800}')).toBe('true');
  expect(shown({ containsstrregex: 'a', pattern: '\\p{IsVithkuqi}' })).toEqual([
    'invalid argument at ["pattern"]',
  ]);
});
