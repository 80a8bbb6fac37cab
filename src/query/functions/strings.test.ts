import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { run, shown } from '../testing/pure-session.ts';

const ARGUMENT = 'invalid argument at ';

test('concat joins strings, and refuses other values', () => {
  expect(shown({ concat: ['a', 'b'], separator: ', ' })).toBe('"a, b"');
  expect(shown({ concat: 'a', separator: ', ' })).toBe('"a"');
  expect(shown({ concat: [] })).toBe('""');
  expect(shown({ concat: ['a', 1, null] })).toEqual([
    `${ARGUMENT}["concat",1]`,
    `${ARGUMENT}["concat",2]`,
  ]);
  expect(shown({ concat: ['a'], separator: null })).toEqual([`${ARGUMENT}["separator"]`]);
});

test('the length of strings is limited', () => {
  const doubled = { concat: [{ var: 'x' }, { var: 'x' }] };
  const bindings = Array.from({ length: 30 }, () => ({ x: doubled }));
  const query = { let: [{ x: { space: 1024 } }, ...bindings], in: { length: { var: 'x' } } };
  const outcome = run(query);
  expect(outcome).toMatchObject({
    faults: [{ description: `result must be at most ${LIMITS.textChars} characters long` }],
  });
  const pattern = {
    let: [{ x: { repeat: 'ab', number: 1024 } }],
    in: { ngram: { repeat: { var: 'x' }, number: 16 }, min: 9000, max: 9000 },
  };
  expect(shown(pattern)).toEqual([`${ARGUMENT}["in"]`]);
});

test('containsstr, startswith and endswith search for a text', () => {
  expect(shown({ containsstr: 'fauna', search: 'aun' })).toBe('true');
  expect(shown({ containsstr: 'fauna', search: 'AUN' })).toBe('false');
  expect(shown({ startswith: 'fauna', search: 'fa' })).toBe('true');
  expect(shown({ startswith: 'fauna', search: 'una' })).toBe('false');
  expect(shown({ endswith: 'fauna', search: 'una' })).toBe('true');
  for (const key of ['containsstr', 'startswith', 'endswith']) {
    expect(shown({ [key]: '', search: '' })).toBe('true');
    expect(shown({ [key]: 1, search: '' })).toEqual([`${ARGUMENT}${JSON.stringify([key])}`]);
    expect(shown({ [key]: 'a', search: null })).toEqual([`${ARGUMENT}["search"]`]);
  }
});

test('findstr counts code points, and ignores a start outside the text', () => {
  const found = (start?: number) =>
    shown({ findstr: '😀ab😀ab', find: 'a', ...(start !== undefined && { start }) });
  expect(found()).toBe('1');
  expect(found(1)).toBe('1');
  expect(found(2)).toBe('4');
  expect(found(5)).toBe('-1');
  expect(found(6)).toBe('1');
  expect(found(-1)).toBe('1');
  expect(shown({ findstr: 'abc', find: '' })).toBe('0');
  expect(shown({ findstr: 'abc', find: 'a', start: 1.5 })).toEqual([`${ARGUMENT}["start"]`]);
});

test('length counts code points', () => {
  expect(shown({ length: '' })).toBe('0');
  expect(shown({ length: 'e\u0301😀' })).toBe('3');
  expect(shown({ length: [] })).toEqual([`${ARGUMENT}["length"]`]);
});

test('lowercase and uppercase follow Unicode', () => {
  expect(shown({ lowercase: 'ΟΔΟΣ ÀB' })).toBe('"οδος àb"');
  expect(shown({ uppercase: 'straße ŉ' })).toBe('"STRASSE ʼN"');
  expect(shown({ lowercase: '' })).toBe('""');
  expect(shown({ uppercase: 1 })).toEqual([`${ARGUMENT}["uppercase"]`]);
});

test('titlecase capitalizes the first letter of each word', () => {
  const cases = {
    'red FISH blue': 'Red Fish Blue',
    "it's o'neil-SMITH": "It's O'neil-Smith",
    'foo_bar a.b 3rd a1,2b': 'Foo_bar A.b 3rd A1,2b',
    '‘quoted’ (x)': '‘Quoted’ (X)',
    'ΟΔΟΣ ǆa ßa ﬁn': 'Οδος ǅa Ssa Fin',
    '漢a e\u0301a': '漢A E\u0301a',
    'ᾳ ბა': 'ᾼ ბა',
    // As ICU4J: a word goes on after Thai, and ends at Korean, at a long vowel and at a zero width space.
    ไทยAbc: 'ไทยabc',
    '한글abc Xーabc': '한글Abc XーAbc',
    'a\u200bb': 'A\u200bB',
    '\u0345a \u0640b': '\u0345A \u0640B',
    '1Σ aΣ': '1σ Aς',
    '': '',
  };
  for (const [text, expected] of Object.entries(cases)) {
    expect(shown({ titlecase: text })).toBe(JSON.stringify(expected));
  }
  expect(shown({ titlecase: null })).toEqual([`${ARGUMENT}["titlecase"]`]);
});

test('trim, ltrim and rtrim remove white space except non-breaking spaces', () => {
  const text = ' \t\u2003\u2028a b\u3000\n\u001f ';
  expect(shown({ trim: text })).toBe('"a b"');
  expect(shown({ ltrim: text })).toBe(JSON.stringify('a b\u3000\n\u001f '));
  expect(shown({ rtrim: text })).toBe(JSON.stringify(' \t\u2003\u2028a b'));
  expect(shown({ trim: '\u00a0a\u202f' })).toBe(JSON.stringify('\u00a0a\u202f'));
  for (const key of ['trim', 'ltrim', 'rtrim']) {
    expect(shown({ [key]: ' \n ' })).toBe('""');
    expect(shown({ [key]: 1 })).toEqual([`${ARGUMENT}${JSON.stringify([key])}`]);
  }
});

test('repeat and space limit their counts', () => {
  expect(shown({ repeat: 'ab' })).toBe('"abab"');
  expect(shown({ repeat: 'ab', number: 0 })).toBe('""');
  expect(shown({ repeat: 'ab', number: -9 })).toBe('""');
  expect(shown({ length: { repeat: 'ab', number: 5000 } })).toBe(String(2 * LIMITS.repeatMax));
  expect(shown({ space: 3 })).toBe('"   "');
  expect(shown({ space: -1 })).toBe('""');
  expect(shown('{"length":{"space":9223372036854775807}}')).toBe(String(LIMITS.repeatMax));
  expect(shown({ repeat: 'a', number: '2' })).toEqual([`${ARGUMENT}["number"]`]);
  expect(shown({ space: null })).toEqual([`${ARGUMENT}["space"]`]);
});

test('replacestr replaces every occurrence literally', () => {
  expect(shown({ replacestr: 'a.b.c', find: '.', replace: '$&' })).toBe('"a$&b$&c"');
  expect(shown({ replacestr: 'aaa', find: 'aa', replace: 'b' })).toBe('"ba"');
  expect(shown({ replacestr: 'a😀', find: '', replace: '-' })).toBe('"-a-😀-"');
  expect(shown({ replacestr: '', find: '', replace: '-' })).toBe('"-"');
  expect(shown({ replacestr: 'a', find: 'a', replace: 1 })).toEqual([`${ARGUMENT}["replace"]`]);
});

test('substring counts code points', () => {
  const cut = (more: object) => shown({ substring: 'a😀cd', ...more });
  expect(cut({})).toBe('"a😀cd"');
  expect(cut({ start: 1, length: 2 })).toBe('"😀c"');
  expect(cut({ start: -3 })).toBe('"😀cd"');
  expect(cut({ start: -4, length: 1 })).toBe('"a"');
  expect(cut({ start: 4 })).toBe('""');
  expect(cut({ start: 1, length: 0 })).toBe('""');
  expect(cut({ start: 2, length: 99 })).toBe('"cd"');
  for (const start of [5, -5]) {
    expect(run({ substring: 'a😀cd', start })).toMatchObject({
      faults: [
        { position: [], description: 'start must be less than or equal to the string length' },
      ],
    });
  }
  expect(run({ substring: 'abc', length: -1 })).toMatchObject({
    faults: [{ position: [], description: 'length must be positive' }],
  });
  expect(cut({ start: 'x' })).toEqual([`${ARGUMENT}["start"]`]);
});

const texts = fc.string({
  unit: fc.constantFrom('a', 'é', '😀'),
  maxLength: 12,
});

test('the two substrings at any position together give the text', () => {
  fc.assert(
    fc.property(texts, fc.nat(12), (text, at) => {
      const size = Array.from(text).length;
      const start = Math.min(at, size);
      const parts = [
        { substring: text, length: start },
        { substring: text, start },
      ];
      expect(run({ concat: parts })).toEqual({ value: text });
    }),
  );
});

test('ngram returns n-grams from left to right, shorter ones first', () => {
  expect(shown({ ngram: 'kiwi' })).toBe('["k","ki","i","iw","w","wi","i"]');
  expect(shown({ ngram: ['ab', 1, 'c😀'], min: 2, max: 2 })).toBe('["ab",1,"c😀"]');
  expect(shown({ ngram: 'a', min: 2, max: 3 })).toBe('[]');
  expect(shown({ ngram: [] })).toBe('[]');
  expect(shown({ ngram: [['a']] })).toEqual([`${ARGUMENT}["ngram",0]`]);
});

test('ngram limits its sizes', () => {
  const refused = (min: number, max: number) => {
    const outcome = run({ ngram: 'abc', min, max });
    return 'faults' in outcome ? outcome.faults.map((fault) => fault.description) : [];
  };
  expect(refused(1, 3)).toEqual(['max must be less than or equal to min + 1']);
  expect(refused(3, 2)).toEqual(['min must be less than or equal to max']);
  expect(refused(0, 1)).toEqual(['min must be greater than or equal to 1']);
  expect(refused(0, -1)).toHaveLength(2);
  expect(refused(2, 2)).toEqual([]);
});
