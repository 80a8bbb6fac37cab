import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { doubleText } from './number-text.ts';

test('doubleText() writes doubles like Java', () => {
  const cases: readonly (readonly [number, string])[] = [
    [1, '1.0'],
    [-1, '-1.0'],
    [0, '0.0'],
    [-0, '-0.0'],
    [0.1, '0.1'],
    [3.14, '3.14'],
    [100, '100.0'],
    [0.001, '0.001'],
    [0.0015, '0.0015'],
    [0.00099, '9.9E-4'],
    [1e-5, '1.0E-5'],
    [1.5e-7, '1.5E-7'],
    [9_999_999, '9999999.0'],
    [9_999_999.5, '9999999.5'],
    [1e7, '1.0E7'],
    [12_345_678, '1.2345678E7'],
    [1_234_567_890.123, '1.234567890123E9'],
    [1e21, '1.0E21'],
    [1e23, '1.0E23'],
    [2e23, '2.0E23'],
    [-1.5e300, '-1.5E300'],
    [Number.MAX_VALUE, '1.7976931348623157E308'],
    [2.2250738585072014e-308, '2.2250738585072014E-308'],
    [Number.MIN_VALUE, '4.9E-324'],
    [1e-323, '9.9E-324'],
    [2 ** 63, '9.223372036854776E18'],
    [Number.NaN, 'NaN'],
    [Infinity, 'Infinity'],
    [-Infinity, '-Infinity'],
  ];
  for (const [value, text] of cases) expect(doubleText(value)).toBe(text);
});

test('doubleText() can be read as the same double, and always has a decimal point', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = doubleText(value);
      expect(Number(text)).toBe(value);
      expect(text).toMatch(/^-?\d+\.\d+(E-?\d+)?$/);
    }),
    { numRuns: 2000 },
  );
});
