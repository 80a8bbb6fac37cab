import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { doubleText } from '../../codec/number-text.ts';
import { shown } from '../testing/pure-session.ts';

const ARGUMENT = 'invalid argument at ';
const object = { object: { a: 1 } };

test('to_string converts scalars, and refuses other values', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['12', '12'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['1e7', '1.0E7'],
    ['1.0', '1.0'],
    ['true', 'true'],
    ['null', 'null'],
    ['"a"', 'a'],
    ['{"time":"2020-02-02T00:00Z"}', '2020-02-02T00:00:00Z'],
    ['{"date":"2020-02-02"}', '2020-02-02'],
    ['{"@uuid":"0a0b0c0d-0000-1000-8000-00805f9b34fb"}', '0a0b0c0d-0000-1000-8000-00805f9b34fb'],
  ];
  for (const [value, expected] of cases) {
    expect(shown(`{"to_string":${value}}`)).toBe(JSON.stringify(expected));
  }
  for (const value of [[1], object, { collections: null }, { '@bytes': 'AA==' }]) {
    expect(shown({ to_string: value })).toEqual([`${ARGUMENT}[]`]);
  }
});

test('to_number parses text like NumberFormat of Java in English', () => {
  // Text, number: printed by NumberFormat of Java 17.
  const cases: readonly (readonly [string, string])[] = [
    ['1,250', '1250'],
    [' 3.75 ', '3.75'],
    ['12abc', '12'],
    ['1e3', '1'],
    ['1E3', '1000'],
    ['1.0', '1'],
    ['-0', '-0.0'],
    ['-0E3', '-0.0'],
    ['.5', '0.5'],
    ['-.5', '-0.5'],
    ['5.', '5'],
    [',1', '1'],
    ['1,,2', '12'],
    ['1,.5', '1.5'],
    ['1.,5', '1'],
    ['1,2.3,4', '12.3'],
    ['1,E3', '1000'],
    ['1.2.3', '1.2'],
    ['1E', '1'],
    ['1E+3', '1'],
    ['1E-3', '0.001'],
    ['1E3.5', '1000'],
    ['0.1E1', '1'],
    ['1E400', '"Infinity"'],
    ['-∞', '"-Infinity"'],
    ['NaN', '"NaN"'],
    ['٣٤', '34'],
    ['０１', '1'],
    ['9223372036854775807', '9223372036854775807'],
    ['9223372036854775808', '9.223372036854776E18'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['0.0000000000000000000000000000001E31', '1'],
    ['123456789012345678901234567890', '1.2345678901234568E29'],
    ['1E99999999999', '"Infinity"'],
    ['0E99999999999', '0'],
    ['2.5E9223372036854775808', '2.5'],
    ['5E-4009223372036854775807', '5'],
    ['-1E99999999999999999999999', '-1'],
    ['\0\u001f\t7\u0001', '7'],
  ];
  for (const [text, expected] of cases) {
    expect(`${text} ${String(shown({ to_number: text }))}`).toBe(`${text} ${expected}`);
  }
  for (const text of [
    '',
    '-',
    '+5',
    '--1',
    '- 1',
    '.',
    '-.',
    ',',
    'E3',
    'pear',
    '-NaN',
    '−5',
    '\u00a05',
    '\ufeff5',
  ]) {
    expect(shown({ to_number: text })).toEqual([`${ARGUMENT}[]`]);
  }
});

test('to_number returns numbers unchanged, and refuses other types', () => {
  expect(shown('{"to_number":1.0}')).toBe('1.0');
  expect(shown('{"to_number":9223372036854775807}')).toBe('9223372036854775807');
  for (const value of [null, true, object, [1], { time: 'now' }]) {
    expect(shown({ to_number: value })).toEqual([`${ARGUMENT}[]`]);
  }
});

test('to_number reads back the output of to_string', () => {
  const doubles = fc.double({ noNaN: true }).filter((value) => !Number.isInteger(value));
  fc.assert(
    fc.property(doubles, (value) => {
      fc.pre(Number.isFinite(value));
      expect(shown({ to_number: doubleText(value) })).toBe(doubleText(value));
    }),
  );
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      fc.pre(value !== 0n);
      expect(shown({ to_number: String(value) })).toBe(String(value));
    }),
  );
});

test('to_double and to_integer return numbers of their type', () => {
  expect(shown({ to_double: 2 })).toBe('2.0');
  expect(shown({ to_double: '1,000' })).toBe('1000.0');
  expect(shown({ to_double: 0.5 })).toBe('0.5');
  expect(shown({ to_integer: 8.9 })).toBe('8');
  expect(shown({ to_integer: '-3.99' })).toBe('-3');
  expect(shown({ to_integer: 1e300 })).toBe('9223372036854775807');
  expect(shown({ to_integer: { to_number: 'NaN' } })).toBe('0');
  for (const key of ['to_double', 'to_integer']) {
    const at = `${ARGUMENT}${JSON.stringify([key])}`;
    for (const value of [false, null, 'x', [1]]) expect(shown({ [key]: value })).toEqual([at]);
  }
});

test('to_time and to_date convert times, dates, numbers and text', () => {
  expect(shown({ to_time: { date: '2024-05-05' } })).toBe('{"@ts":"2024-05-05T00:00:00Z"}');
  expect(shown({ to_time: 1500 })).toBe('{"@ts":"1970-01-01T00:00:01.500Z"}');
  expect(shown({ to_time: '2024-05-05T01:00:00+01:00' })).toBe('{"@ts":"2024-05-05T00:00:00Z"}');
  expect(shown({ equals: [{ to_time: { time: 'now' } }, { now: null }] })).toBe('true');
  expect(shown({ to_date: { time: '1969-12-31T23:59:59Z' } })).toBe('{"@date":"1969-12-31"}');
  expect(shown({ to_date: '2024-05-05' })).toBe('{"@date":"2024-05-05"}');
  expect(shown({ to_date: { date: '2024-05-05' } })).toBe('{"@date":"2024-05-05"}');
  for (const value of [1.5, null, '2024-05-05', '\u00a02024-05-05T00:00Z', object]) {
    expect(shown({ to_time: value })).toEqual([`${ARGUMENT}[]`]);
  }
  for (const value of [1, null, '2024-05-05T00:00Z', '2024-05-05\u3000', object]) {
    expect(shown({ to_date: value })).toEqual([`${ARGUMENT}[]`]);
  }
});
