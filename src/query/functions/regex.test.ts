import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import { pureSession, run, shown } from '../testing/pure-session.ts';

test('containsstrregex finds a match anywhere in the text', () => {
  expect(shown({ containsstrregex: 'fauna', pattern: 'un' })).toBe('true');
  expect(shown({ containsstrregex: 'fauna', pattern: '^un' })).toBe('false');
  expect(shown({ containsstrregex: '', pattern: '' })).toBe('true');
});

test('invalid patterns are refused', () => {
  const outcome = run({ containsstrregex: 'x', pattern: '(' });
  expect(outcome).toMatchObject({
    faults: [
      {
        code: 'invalid argument',
        position: ['pattern'],
        description: 'Search pattern /(/ is not a valid regular expression.',
      },
    ],
  });
  expect(shown({ findstrregex: 'x', pattern: 1 })).toEqual(['invalid argument at ["pattern"]']);
  expect(shown({ replacestrregex: 'x', pattern: '(?=a)', replace: '' })).toEqual([
    'invalid argument at ["pattern"]',
  ]);
});

test('findstrregex returns the positions of matches, with inclusive ends', () => {
  expect(shown({ findstrregex: '😀a1b22', pattern: '[0-9]+' })).toBe(
    '[{"start":2,"end":2,"data":"1"},{"start":4,"end":5,"data":"22"}]',
  );
  expect(shown({ findstrregex: 'ab', pattern: 'x*' })).toBe(
    '[{"start":0,"end":0,"data":""},{"start":1,"end":1,"data":""},{"start":2,"end":2,"data":""}]',
  );
});

test('findstrregex ignores the text before its start', () => {
  const found = (start: number) => shown({ findstrregex: 'abab', pattern: '^a', start });
  expect(found(2)).toBe('[{"start":2,"end":2,"data":"a"}]');
  expect(found(1)).toBe('[]');
  expect(found(-3)).toBe('[{"start":0,"end":0,"data":"a"}]');
  expect(found(4)).toBe('[{"start":0,"end":0,"data":"a"}]');
});

test('findstrregex returns at most num_results matches, and at most its limit', () => {
  const count = (more: object) => {
    const query = { findstrregex: { repeat: 'ab', number: 2000 }, pattern: '[ab]', ...more };
    return shown({ count: query });
  };
  expect(count({})).toBe(String(LIMITS.repeatMax));
  expect(count({ num_results: 5000 })).toBe(String(LIMITS.repeatMax));
  expect(count({ num_results: 3 })).toBe('3');
  expect(count({ num_results: 0 })).toBe('0');
  expect(count({ num_results: -1 })).toBe('0');
});

test('replacestrregex replaces all matches, or the first', () => {
  const query = { replacestrregex: 'One Fish Two', pattern: '[A-Z]', replace: '*' };
  expect(shown(query)).toBe('"*ne *ish *wo"');
  expect(shown({ ...query, first: true })).toBe('"*ne Fish Two"');
  expect(shown({ ...query, pattern: '' })).toBe('"*O*n*e* *F*i*s*h* *T*w*o*"');
  expect(shown({ ...query, pattern: 'z' })).toBe('"One Fish Two"');
});

test('replacestrregex handles groups and backslashes like Java', () => {
  const replaced = (replace: string) =>
    shown({ replacestrregex: 'ab', pattern: '(?<x>a)(b)(c)?', replace });
  expect(replaced('$2$1')).toBe('"ba"');
  expect(replaced('${x}-$0')).toBe('"a-ab"');
  expect(replaced('$11')).toBe('"a1"');
  expect(replaced('[$3]')).toBe('"[]"');
  expect(replaced('\\$1\\\\')).toBe('"$1\\\\"');
  for (const bad of ['$4', '$', '$x', '${y}', '${x', '\\']) {
    expect(replaced(bad)).toEqual(['invalid argument at ["replace"]']);
  }
  expect(shown({ replacestrregex: 'ab', pattern: 'z', replace: '$9' })).toBe('"ab"');
});

const texts = fc.string({
  unit: fc.constantFrom('a', '\\', 'E', 'Q', '.', '😀', '\n'),
  minLength: 1,
  maxLength: 20,
});

test('regexescape escapes any text for findstrregex', () => {
  expect(shown({ regexescape: 'a\\Eb' })).toBe(String.raw`"\\Qa\\E\\\\E\\Qb\\E"`);
  fc.assert(
    fc.property(texts, (text) => {
      const query = { findstrregex: text, pattern: { regexescape: text } };
      const outcome = run(query);
      const ends = [{ start: 0, end: Array.from(text).length - 1 }];
      const found = 'value' in outcome && Array.isArray(outcome.value) ? outcome.value : [];
      expect(found.map((each) => ({ start: each.get('start'), end: each.get('end') }))).toEqual(
        ends,
      );
    }),
  );
});

test('the length of searched texts and of results is limited', () => {
  const long = { concat: Array.from({ length: 1025 }, () => ({ space: 1024 })) };
  expect(shown({ containsstrregex: long, pattern: 'x' })).toEqual(['invalid argument at []']);
  const half = { concat: Array.from({ length: 500 }, () => ({ space: 1024 })) };
  const query = { replacestrregex: half, pattern: '.+', replace: '$0'.repeat(40) };
  expect(shown(query)).toEqual(['invalid argument at []']);
});

test('matching a pattern is charged as work', () => {
  // More work than is charged for the lengths of the texts.
  let left = 5_000_000;
  const spend = (units: number) => {
    left -= units;
    if (left < 0) throw new Refusal('bad request', 'enough');
  };
  const text = { repeat: { repeat: 'a', number: 1024 }, number: 100 };
  const easy = { containsstrregex: text, pattern: 'a' };
  expect(run(easy, pureSession('4', { spend }))).toEqual({ value: true });
  const search = { containsstrregex: text, pattern: '(a+)+$x' };
  expect(() => run(search, pureSession('4', { spend }))).toThrow('enough');
});
