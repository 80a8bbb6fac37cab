import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { compileRegex, findMatches } from './regex.ts';
import { Subject } from './subject.ts';

/** The positions of all matches with their groups: `0-2,0-1 2-3,-`. Undefined if the pattern is invalid. */
function matches(pattern: string, text: string): string | undefined {
  const regex = compileRegex(pattern);
  if (!regex) return undefined;
  const found = [...findMatches(regex, new Subject(text), { groups: regex.groupCount })];
  return found.map(placesOf).join(' ');
}

function placesOf(slots: readonly number[]): string {
  const places: string[] = [];
  for (let at = 0; at < slots.length; at += 2) {
    places.push((slots[at] ?? -1) < 0 ? '-' : `${slots[at]}-${slots[at + 1]}`);
  }
  return places.join();
}

test('findMatches() finds the same matches as Java', () => {
  // Pattern, text, matches: printed by Java 17.
  const cases: readonly (readonly [string, string, string])[] = [
    ['a*', 'baaac', '0-0 1-4 4-4 5-5'],
    ['(a|ab)(c|bcd)(d*)', 'abcd', '0-4,0-1,1-4,4-4'],
    ['(a|ab)*c', 'abac', '0-4,2-3'],
    ['(?:(a)|b)*', 'ab', '0-2,0-1 2-2,-'],
    ['(a*)*', 'b', '0-0,0-0 1-1,1-1'],
    ['(a|b*)*', 'abba', '0-4,4-4 4-4,4-4'],
    ['(|a)+', 'aa', '0-0,0-0 1-1,1-1 2-2,2-2'],
    ['(a?)*?b', 'aab', '0-3,1-2'],
    ['(a??)*b', 'aab', '0-3,2-2'],
    ['(a{0,2}){2,3}', 'aaaaaaaa', '0-6,4-6 6-8,8-8 8-8,8-8'],
    ['(?:a?||a*|b?)*', 'ab', '0-1 1-1 2-2'],
    ['[^a-]*((a?([ac-]|b*?c*))?)+', 'bba-b', '0-4,4-4,4-4,4-4 4-5,5-5,5-5,5-5 5-5,5-5,5-5,5-5'],
    ['a{2}{3}', 'aaaaa', '0-2 2-4'],
    ['a??b', 'aab', '1-3'],
    ['$', 'a\r\n', '1-1 3-3'],
    ['(?m)$', 'a\r\nb\n', '1-1 4-4 5-5'],
    ['(?m)^', 'a\r\nb\n', '0-0 3-3'],
    ['(?m)^', '', ''],
    ['(?d)$', 'a\r\n', '2-2 3-3'],
    ['(?md)^', 'a\r\nb\n', '0-0 3-3'],
    ['\\Z', 'a\n', '1-1 2-2'],
    ['\\z', 'a\n', '2-2'],
    ['\\Ga', 'aaba', '0-1 1-2'],
    ['\\b', 'a\u0301b c', '0-0 3-3 4-4 5-5'],
    ['\\b', 'é x', '0-0 1-1 2-2 3-3'],
    ['\\B', 'ab c', '1-1'],
    ['\\w+', 'é_a1', '1-4'],
    ['(?U)\\w+', 'éa', '0-2'],
    ['.', '\n\r\u0085\u2028a', '4-5'],
    ['(?d).', '\n\r', '1-2'],
    ['(?s).', '\n', '0-1'],
    ['\\R', '\r\n\n', '0-2 2-3'],
    ['(?x) a\\ b [c d] # z', 'a bc', '0-4'],
    ['a(?i)b|c', 'aBC', '0-2 2-3'],
    ['(a(?i)b)C', 'aBc', ''],
    ['(?i:a)b', 'Ab AB', '0-2'],
    ['(?i)é', 'É', ''],
    ['(?iu)é', 'É', '0-1'],
    ['(?iu)[a-z]', 'İıI\u212a', '0-1 1-2 2-3 3-4'],
    ['(?iu)ß', 'ßẞ', '0-1'],
    ['(?iu)[ß]', 'ßẞ', '0-1'],
    ['(?iu)ẞ', 'ßẞ', '0-1 1-2'],
    ['(?iu)ᾀ', 'ᾀᾈ', '0-1 1-2'],
    ['(?iu)[ᾈ-ᾏᾼ]', 'ᾀᾷᾳ', '0-1 2-3'],
    ['(?i)[^a]', 'aAb', '2-3'],
    ['(?i)\\p{Lu}', 'aA', '0-1 1-2'],
    ['[a-z&&[^b-d]]', 'abcde', '0-1 4-5'],
    ['[a-f&&[^b]&&[^d]]', 'abcdefg', '0-1 2-3 4-5 5-6'],
    ['[a-c&&b-d[xyz]]', 'abcdxyz', '1-2 2-3'],
    ['[^a[b]]', 'abc', '2-3'],
    ['[a&&&b]', 'a&b', '0-1 1-2 2-3'],
    ['[]a]', 'a]', '0-1 1-2'],
    ['[a-]', 'a-b', '0-1 1-2'],
    ['[\\v-\\x0f]', '\u000b\n\u000e', '0-1 2-3'],
    ['\\Qa.\\E*', 'a...', '0-4'],
    ['\\0101\\x42\\u0043\\cA', 'ABC\u0001', '0-4'],
    ['(?<n>a)|b', 'ab', '0-1,0-1 1-2,-'],
  ];
  for (const [pattern, text, expected] of cases) {
    expect(`${pattern} ${matches(pattern, text)}`).toBe(`${pattern} ${expected}`);
  }
});

test('findMatches() counts code points', () => {
  expect(matches('😀+', 'a😀😀')).toBe('1-3');
  expect(matches('\\uD83D\\uDE00', '😀')).toBe('0-1');
  expect(matches('[^a]', '😀')).toBe('0-1');
  expect(matches('.', '\ud83d')).toBe('0-1');
});

test('findMatches() knows the character properties of Java', () => {
  const found: readonly (readonly [string, string])[] = [
    ['\\pL', 'é'],
    ['\\p{IsGreek}', 'α'],
    ['\\p{sc=greek}', 'α'],
    ['\\p{script=GREK}', 'α'],
    ['\\p{gc=Lu}', 'A'],
    ['\\p{IsAlphabetic}', 'é'],
    ['\\p{IsWhiteSpace}', '\u00a0'],
    ['\\p{javaWhitespace}', ' '],
    ['\\p{LD}', '1'],
    ['\\p{Punct}', '~'],
    ['\\P{Ll}', 'A'],
    ['(?U)\\p{Alpha}', 'é'],
    ['\\p{IsAlpha}', 'é'],
    ['\\p{IsLOWER}', 'é'],
    ['\\p{Isupper}', 'É'],
    ['(?i)\\p{IsUpper}', 'é'],
    ['\\p{IsPunct}', '§'],
    ['\\p{IsSpace}', '\u00a0'],
    ['\\p{IsXDigit}', '٣'],
    ['\\p{IsCntrl}', '\u0080'],
    ['(?i)\\p{Lu}', 'é'],
    ['(?i)\\p{javaUpperCase}', 'ª'],
  ];
  for (const [pattern, text] of found)
    expect(`${pattern} ${matches(pattern, text)}`).toBe(`${pattern} 0-1`);
  const missed: readonly (readonly [string, string])[] = [
    ['\\p{Alpha}', 'é'],
    ['\\p{javaWhitespace}', '\u00a0'],
    ['\\s', '\u00a0'],
    ['\\d', '٣'],
    ['\\p{IsPunct}', '+'],
    ['(?i)\\p{Lu}', 'ª'],
    ['(?i)\\p{IsLl}', 'ª'],
    ['(?i)\\p{gc=Lt}', 'ª'],
  ];
  for (const [pattern, text] of missed) expect(matches(pattern, text)).toBe('');
});

test('compileRegex() refuses invalid patterns', () => {
  const none =
    '[ ( ) a) * a** a|* x{ a{,3} a{3,2} a{99999999999} [z-a] [a-\\d] [] [^] [&&] \\ \\y \\08 \\x4 \\u12 \\x{110000} \\p{L \\p{Nonsense} \\p{} [\\b] (?i)* (?<1a>x) (?<a>x)(?<a>y) (?z) (?#x)';
  for (const pattern of none.split(' '))
    expect(`${pattern} ${matches(pattern, '')}`).toBe(`${pattern} undefined`);
});

test('compileRegex() refuses patterns that need more than linear time, and rare properties', () => {
  const others =
    '(a)\\1 (?<n>a)\\k<n> a(?=b) a(?!b) (?<=a)b (?<!a)b (?>a) a++ a*+ a?+ a{2}+ \\X \\b{g} \\p{InGreek} \\p{javaJavaIdentifierStart} \\N{SPACE}';
  for (const pattern of others.split(' ')) expect(compileRegex(pattern)).toBeUndefined();
});

test('compileRegex() limits the size of patterns and repetitions', () => {
  expect(compileRegex('a'.repeat(LIMITS.regexPatternChars))).toBeDefined();
  expect(compileRegex('a'.repeat(LIMITS.regexPatternChars + 1))).toBeUndefined();
  expect(matches('a{1000}', 'a'.repeat(1000))).toBe('0-1000');
  expect(compileRegex('(?:a{1000}){1000}')).toBeUndefined();
  expect(compileRegex('(?:a{1,1000}){1,1000}')).toBeUndefined();
  expect(compileRegex(`${'('.repeat(500)}a*${')*'.repeat(500)}`)).toBeUndefined();
  expect(matches('(?:){2000000000}x', 'x')).toBe('0-1');
  expect(matches('(?:){5,2000000000}x', 'x')).toBe('0-1');
  expect(compileRegex(`${'('.repeat(500)}a${')'.repeat(500)}`)?.groupCount).toBe(500);
});

/** The number of steps that all matches take together. Throws when it exceeds `most`. */
function stepsOf(pattern: string, text: string, most = Infinity): number {
  const regex = compileRegex(pattern);
  if (!regex) throw new Error(`${pattern} is none`);
  let steps = 0;
  const report = (count: number): void => {
    steps += count;
    if (steps > most) throw new RangeError('enough');
  };
  const options = { report, groups: regex.groupCount };
  for (const _ of findMatches(regex, new Subject(text), options)) continue;
  return steps;
}

/**
 * Patterns that take a backtracking matcher exponential time, with the letter to repeat in the text and the end of the
 * text.
 */
const BOMBS: readonly (readonly [pattern: string, letter: string, end: string])[] = [
  ['(a+)+$', 'a', '!'],
  ['(a*)*b', 'a', '!'],
  ['(a|a)*b', 'a', '!'],
  ['(a|aa)+$', 'a', '!'],
  ['(a|a?)+b', 'a', '!'],
  ['(x+x+)+y', 'x', ''],
  ['(x*x*)*y', 'x', ''],
  ['((a+)+)+b', 'a', ''],
  ['(?:(?:a|b)*)*c', 'a', ''],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a', ''],
  ['([a-zA-Z0-9._]+)*@', 'a', ''],
  ['(.*)*=(.*)*;', 'a', ''],
  ['a*a*a*a*b', 'a', ''],
  ['(?:a?){20}a{20}b', 'a', '!'],
  ['(?:a?){50}a{50}b', 'a', ''],
  ['(?:a{1,30}){1,30}b', 'a', ''],
  ['(?:.{0,40}){0,20}b', 'a', ''],
  ['(a{0,50}?){1,20}b', 'a', ''],
  ['(?i)(?:a|A|[aA])+\\bb', 'a', ''],
  ['(?:a*b?)*c', 'a', ''],
];

test.each(BOMBS)(
  'findMatches() of /%s/ takes a number of steps proportional to the text',
  (...bomb) => {
    const [pattern, letter, end] = bomb;
    const program = compileRegex(pattern)?.program ?? [];
    const lengths = [500, 1000, 2000];
    const steps = lengths.map((length) => stepsOf(pattern, letter.repeat(length) + end));
    for (const [i, length] of lengths.entries()) {
      expect(steps[i]).toBeGreaterThan(length);
      // Each instruction is entered once per position and counts as a few steps.
      expect(steps[i]).toBeLessThan(program.length * (length + 2) * 12);
    }
    const [short = 0, middle = 0, long = 0] = steps;
    expect(middle).toBeLessThan(short * 2.2);
    expect(long).toBeLessThan(middle * 2.2);
  },
);

test('findMatches() reports steps during the search, so that it can be stopped', () => {
  // Each match looks ahead to the end of the text before it takes one letter.
  const text = 'a'.repeat(20_000);
  expect(() => stepsOf('a*b|a', text, 1_000_000)).toThrow('enough');
  expect(stepsOf('a*b|a', 'a'.repeat(200))).toBeLessThan(200 * 200 * 12);
});

test('compileRegex() accepts patterns up to the limit of instructions', () => {
  const of = (count: number) => compileRegex(`a{${count - 1}}`)?.program.length;
  expect(of(LIMITS.regexInstructions)).toBe(LIMITS.regexInstructions);
  expect(of(LIMITS.regexInstructions + 1)).toBeUndefined();
});

// Patterns that mean the same in JavaScript and Java: no iteration of a loop matches the empty text.
const letter = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\w', '\\d', '[a-c1]', ' ');
const { pattern: samePatterns } = fc.letrec<{ item: string; pattern: string; turn: string }>(
  (tie) => ({
    item: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      letter,
      fc.constantFrom('^', '\\b', '\\B', ''),
      fc
        .tuple(
          tie('turn'),
          fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,2}', '{1,}'),
          fc.constantFrom('', '?'),
        )
        .map((parts) => parts.join('')),
      tie('pattern').map((inside) => `(?:${inside})`),
    ),
    turn: fc.oneof(
      letter,
      fc.tuple(letter, tie('pattern')).map(([first, rest]) => `(${first}(?:${rest}))`),
      fc
        .tuple(letter, tie('item'), letter, tie('item'))
        .map(([a, b, c, d]) => `(?:${a}${b}|${c}${d})`),
    ),
    pattern: fc.oneof(
      { maxDepth: 4 },
      fc.array(tie('item'), { maxLength: 4 }).map((items) => items.join('')),
      fc.tuple(tie('item'), tie('item')).map((items) => items.join('|')),
    ),
  }),
);

test('findMatches() gives the same matches as JavaScript for patterns common to both', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '!'), maxLength: 10 });
  fc.assert(
    fc.property(samePatterns, texts, (pattern, text) => {
      fc.pre(compileRegex(pattern) !== undefined);
      const expected = [...text.matchAll(new RegExp(pattern, 'g'))].map(
        (match) => `${match.index}-${match.index + match[0].length}`,
      );
      const regex = compileRegex(pattern);
      const found = regex ? [...findMatches(regex, new Subject(text))] : [];
      expect(found.map(placesOf)).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});
