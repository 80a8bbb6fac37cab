import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { run, shown } from '../testing/pure-session.ts';

const ARGUMENT = 'invalid argument at ';
const MAX = 9_223_372_036_854_775_807n;
const MIN = -MAX - 1n;

const refusal = (query: unknown): unknown => {
  const outcome = run(query);
  return 'faults' in outcome ? outcome.faults.map((fault) => fault.description) : outcome.value;
};

const int64 = fc.oneof(
  fc.bigInt({ min: MIN, max: MAX }),
  fc.bigInt({ min: -5n, max: 5n }),
  fc.constantFrom(MIN, MAX, 2n ** 53n, -(2n ** 53n), 2n ** 32n),
);

test('add, subtract and multiply wrap at 64 bits', () => {
  fc.assert(
    fc.property(int64, int64, int64, (a, b, c) => {
      const args = `[${a},${b},${c}]`;
      const wrapped = (value: bigint): string => String(BigInt.asIntN(64, value));
      expect(shown(`{"add":${args}}`)).toBe(wrapped(a + b + c));
      expect(shown(`{"subtract":${args}}`)).toBe(wrapped(a - b - c));
      expect(shown(`{"multiply":${args}}`)).toBe(wrapped(a * b * c));
    }),
  );
});

test('divide and modulo of Integers truncate, and match each other', () => {
  fc.assert(
    fc.property(int64, int64, (a, b) => {
      fc.pre(b !== 0n);
      expect(shown(`{"divide":[${a},${b}]}`)).toBe(String(BigInt.asIntN(64, a / b)));
      expect(shown(`{"modulo":[${a},${b}]}`)).toBe(String(a % b));
    }),
  );
});

test('bit functions work on 64-bit integers', () => {
  fc.assert(
    fc.property(int64, int64, (a, b) => {
      expect(shown(`{"bitand":[${a},${b}]}`)).toBe(String(a & b));
      expect(shown(`{"bitor":[${a},${b}]}`)).toBe(String(a | b));
      expect(shown(`{"bitxor":[${a},${b}]}`)).toBe(String(a ^ b));
      expect(shown(`{"bitnot":${a}}`)).toBe(String(~a));
    }),
  );
});

test('arithmetic functions calculate with Doubles from the first Double on', () => {
  expect(shown('{"add":[1,2.0,3]}')).toBe('6.0');
  expect(shown('{"add":[9223372036854775807,1,0.5]}')).toBe('-9.223372036854776E18');
  expect(shown('{"subtract":[5,0.5]}')).toBe('4.5');
  expect(shown('{"multiply":[1e200,1e200]}')).toBe('"Infinity"');
  expect(shown('{"divide":[7,2.0]}')).toBe('3.5');
  expect(shown('{"modulo":[-7.5,2]}')).toBe('-1.5');
  expect(shown('{"multiply":[-1,0]}')).toBe('0');
  expect(shown('{"divide":[0,-3]}')).toBe('0');
  expect(shown('{"modulo":[-4,2]}')).toBe('0');
});

test('arithmetic functions accept one operand, and refuse an empty list', () => {
  for (const key of [
    'add',
    'subtract',
    'multiply',
    'divide',
    'modulo',
    'bitand',
    'bitor',
    'bitxor',
  ]) {
    const at = (...more: number[]) => `${ARGUMENT}${JSON.stringify([key, ...more])}`;
    expect(shown({ [key]: 0 })).toBe('0');
    expect(shown({ [key]: [7] })).toBe('7');
    expect(shown({ [key]: [] })).toEqual([at()]);
    expect(shown({ [key]: [1, '2', 3, null] })).toEqual([at(1), at(3)]);
    expect(shown({ [key]: '1' })).toEqual([at()]);
  }
});

test('divide and modulo refuse a zero of either type', () => {
  for (const key of ['divide', 'modulo']) {
    for (const zero of ['0', '0.0', '-0.0']) {
      expect(refusal(`{"${key}":[1,2,${zero}]}`)).toEqual(['Illegal division by zero.']);
    }
    expect(shown({ do: [{ [key]: [1, 0] }] })).toEqual([`${ARGUMENT}["do",0]`]);
  }
});

test('bit functions truncate Doubles to Integers, and then return a Double', () => {
  expect(shown('{"bitand":[7.9,3]}')).toBe('3.0');
  expect(shown('{"bitor":[-1.5,0]}')).toBe('-1.0');
  expect(shown('{"bitxor":[6,3.0]}')).toBe('5.0');
  expect(shown('{"bitnot":5.9}')).toBe('-6');
  expect(shown({ bitnot: 'x' })).toEqual([`${ARGUMENT}["bitnot"]`]);
});

test('abs, ceil, floor and sign accept Integers and Doubles, and refuse other types', () => {
  expect(shown({ abs: -5 })).toBe('5');
  expect(shown({ abs: -5.5 })).toBe('5.5');
  expect(shown(`{"abs":${MIN}}`)).toBe(String(MIN));
  expect(shown(`{"abs":${-MAX}}`)).toBe(String(MAX));
  expect(shown({ ceil: 1.2 })).toBe('2.0');
  expect(shown({ ceil: -0.5 })).toBe('-0.0');
  expect(shown({ ceil: 7 })).toBe('7');
  expect(shown({ floor: -1.2 })).toBe('-2.0');
  expect(shown(`{"floor":${MAX}}`)).toBe(String(MAX));
  expect(shown({ sign: -3 })).toBe('-1');
  expect(shown({ sign: 0 })).toBe('0');
  expect(shown('{"sign":0.0}')).toBe('1');
  expect(
    shown({ sign: { divide: [{ subtract: [1e308, -1e308] }, { multiply: [1e200, 1e200] }] } }),
  ).toBe('1');
  for (const key of ['abs', 'ceil', 'floor', 'sign']) {
    expect(shown({ [key]: null })).toEqual([`${ARGUMENT}${JSON.stringify([key])}`]);
  }
});

test('round adds half a unit and truncates', () => {
  const rounded = (value: string, precision?: number) =>
    shown(`{"round":${value}${precision === undefined ? '' : `,"precision":${precision}`}}`);
  expect(rounded('5.678')).toBe('5.68');
  expect(rounded('-2.6', 0)).toBe('-2.0');
  expect(rounded('2.5', 0)).toBe('3.0');
  expect(rounded('5678', -2)).toBe('5700');
  expect(rounded('-1250', -2)).toBe('-1200');
  expect(rounded('-3', 0)).toBe('-3');
  expect(rounded('-3')).toBe('-3');
  expect(rounded('1234.5', -2)).toBe('1200.0');
  expect(rounded('1.5', 400)).toBe('1.5');
  expect(rounded('1.5', -400)).toBe('0.0');
  expect(rounded('1e308', 10)).toBe('1.0E308');
  expect(rounded(String(MAX), -1)).toBe(String(MAX));
  expect(rounded(String(MAX), -18)).toBe('9000000000000000000');
  expect(rounded(String(MAX), -25)).toBe('0');
  expect(shown({ round: 1.5, precision: 1.5 })).toEqual([`${ARGUMENT}["precision"]`]);
  expect(shown({ round: '1' })).toEqual([`${ARGUMENT}["round"]`]);
});

test('trunc truncates toward zero', () => {
  const cut = (value: string, precision: number) =>
    shown(`{"trunc":${value},"precision":${precision}}`);
  expect(shown({ trunc: 9.8765 })).toBe('9.87');
  expect(cut('-9.8765', 1)).toBe('-9.8');
  expect(cut('9999', -2)).toBe('9900');
  expect(cut('-9999', -2)).toBe('-9900');
  expect(cut('9999.9', -2)).toBe('9900.0');
  expect(cut('7', 5)).toBe('7');
  expect(shown({ trunc: true })).toEqual([`${ARGUMENT}["trunc"]`]);
});

test('sqrt, ln and log refuse numbers without a result', () => {
  expect(shown({ sqrt: 16 })).toBe('4.0');
  expect(shown({ sqrt: 0 })).toBe('0.0');
  expect(refusal({ sqrt: -4 })).toEqual(['-4 must be positive']);
  expect(refusal('{"sqrt":-4.0}')).toEqual(['-4.0 must be positive']);
  expect(shown({ ln: 1 })).toBe('0.0');
  expect(refusal({ ln: 0 })).toEqual(['0 must be greater than 0']);
  expect(shown({ log: 1000 })).toBe('3.0');
  expect(refusal({ log: -1.5 })).toEqual(['-1.5 must be greater than 0']);
  for (const key of ['sqrt', 'ln', 'log', 'exp']) {
    expect(shown({ [key]: 'x' })).toEqual([`${ARGUMENT}${JSON.stringify([key])}`]);
  }
});

test('pow, hypot and exp return Doubles', () => {
  expect(shown({ pow: 3 })).toBe('9.0');
  expect(shown({ pow: 2, exp: -1 })).toBe('0.5');
  expect(shown({ pow: 10, exp: 400 })).toBe('"Infinity"');
  expect(shown({ hypot: 3, b: 4 })).toBe('5.0');
  expect(shown({ hypot: 3 })).toBe('4.242640687119285');
  expect(shown({ hypot: 0.1, b: 0.2 })).toBe('0.22360679774997896');
  expect(shown({ hypot: 123.456, b: -789.012 })).toBe('798.612121170221');
  expect(shown({ hypot: 4e200, b: 3e200 })).toBe('4.9999999999999995E200');
  expect(shown({ hypot: 3e-200, b: 4e-200 })).toBe('5.0E-200');
  expect(shown({ hypot: 1e308, b: 1e308 })).toBe('1.4142135623730951E308');
  expect(shown({ hypot: 0, b: -2.5 })).toBe('2.5');
  expect(shown({ round: { hypot: 1 } })).toBe('1.41');
  expect(shown({ exp: 0 })).toBe('1.0');
  expect(shown({ pow: 2, exp: 'x' })).toEqual([`${ARGUMENT}["exp"]`]);
  expect(shown({ hypot: 2, b: null })).toEqual([`${ARGUMENT}["b"]`]);
});
