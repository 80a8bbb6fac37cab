import { expect, test } from 'vitest';
import { Expr, FaunaTime, Ref } from '../../src/index.ts';
import { printValue } from './print-value.ts';

const cities = new Ref('cities', new Ref('collections'));

test('printValue() writes values as FQL source', () => {
  expect(printValue(new Ref('1', cities))).toBe('Ref(Collection("cities"), "1")');
  expect(printValue([1, 'a', null, 2n ** 62n])).toBe('[1, "a", null, 4611686018427387904]');
  expect(printValue({ 'a b': new FaunaTime('2020-01-01T00:00:00Z'), c: {} })).toBe(
    '{ "a b": Time("2020-01-01T00:00:00Z"), c: {} }',
  );
  expect(printValue(new Expr({ now: null }))).toBe('Now()');
});

test('printValue() breaks a value that is too long for a line', () => {
  const word = 'x'.repeat(40);
  expect(printValue({ data: [word, word], n: 1 })).toBe(
    `{\n  data: [\n    "${word}",\n    "${word}"\n  ],\n  n: 1\n}`,
  );
});
