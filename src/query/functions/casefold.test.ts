import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { run, shown } from '../testing/pure-session.ts';
import { hasLater } from '../unicode.ts';
import { casefold } from './casefold.ts';

test('casefold() applies full Unicode case folding', () => {
  const cases = {
    'Straße ẞ': 'strasse ss',
    ΣΊΣΥΦΟΣ: 'σίσυφοσ',
    'ﬁ Ⅷ ｆｕｌｌ': 'fi viii full',
    İI: 'i\u0307i',
    ı: 'ı',
    'ꭰ Ꭰ ᏸ': 'Ꭰ Ꭰ Ᏸ',
    'A\u00ad\u200bB': 'ab',
    'ᾳ ŉ ǰ և': 'αι ʼn ǰ եւ',
    'e\u0301': 'é',
    K: 'k',
    Ა: 'ა',
    '': '',
  };
  for (const [text, expected] of Object.entries(cases)) expect(casefold(text)).toBe(expected);
});

test('casefold() is idempotent, and does not depend on normalization', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 8 });
  fc.assert(
    fc.property(texts, (text) => {
      expect(casefold(casefold(text))).toBe(casefold(text));
      expect(casefold(text.normalize('NFD'))).toBe(casefold(text));
    }),
  );
});

test('casefold() agrees with Unicode on which known characters change', () => {
  const changes = /\p{Changes_When_NFKC_Casefolded}/u;
  const wrong: number[] = [];
  for (let code = 0; code < 0x30000; code += 1) {
    const char = String.fromCodePoint(code);
    if ((casefold(char) !== char) !== (changes.test(char) && !hasLater(char))) wrong.push(code);
  }
  expect(wrong).toEqual([]);
});

test('casefold returns one value for one argument, else an array', () => {
  expect(shown({ casefold: 'ABC' })).toBe('"abc"');
  expect(shown({ casefold: ['ABC'] })).toBe('"abc"');
  expect(shown({ casefold: [null] })).toBe('null');
  expect(shown({ casefold: ['A', 1, { date: '2020-01-01' }] })).toBe(
    '["a",1,{"@date":"2020-01-01"}]',
  );
  expect(shown({ casefold: [] })).toBe('[]');
  expect(shown({ casefold: ['a', ['b'], { object: {} }] })).toEqual([
    'invalid argument at ["casefold",1]',
    'invalid argument at ["casefold",2]',
  ]);
});

test('casefold with another normalizer only normalizes', () => {
  const text = 'ﬁÉ';
  const by = (normalizer: string) => run({ casefold: text, normalizer });
  expect(by('NFKCCaseFold')).toEqual({ value: 'fié' });
  expect(by('NFC')).toEqual({ value: 'ﬁÉ' });
  expect(by('NFD')).toEqual({ value: 'ﬁE\u0301' });
  expect(by('NFKC')).toEqual({ value: 'fiÉ' });
  expect(by('NFKD')).toEqual({ value: 'fiE\u0301' });
  expect(by('nfc')).toMatchObject({
    faults: [
      {
        position: ['normalizer'],
        description:
          "String 'NFKCCaseFold', 'NFC', 'NFD', 'NFKC', or 'NFKD' expected, String provided.",
      },
    ],
  });
});
