import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyInteger } from './arbitrary.ts';
import {
  addIntegers,
  asDouble,
  INT64_MAX,
  INT64_MIN,
  multiplyIntegers,
  subtractIntegers,
  toDouble,
  truncateToInteger,
} from './number.ts';
import { Double, integer } from './value.ts';

test('integer arithmetic wraps at int64 and stays in normal form', () => {
  fc.assert(
    fc.property(anyInteger, anyInteger, (a, b) => {
      const [x, y] = [BigInt(a), BigInt(b)];
      expect(addIntegers(a, b)).toBe(integer(BigInt.asIntN(64, x + y)));
      expect(subtractIntegers(a, b)).toBe(integer(BigInt.asIntN(64, x - y)));
      expect(multiplyIntegers(a, b)).toBe(integer(BigInt.asIntN(64, x * y)));
    }),
    { numRuns: 1000 },
  );
});

test('multiplyIntegers() never returns -0', () => {
  expect(multiplyIntegers(-1, 0)).toBe(0);
});

test('addIntegers() of the largest integer and 1 is the smallest integer', () => {
  expect(addIntegers(INT64_MAX, 1)).toBe(INT64_MIN);
});

test('truncateToInteger() cuts off decimals, saturates at int64, and returns 0 for NaN', () => {
  expect(truncateToInteger(1.9)).toBe(1);
  expect(truncateToInteger(-1.9)).toBe(-1);
  expect(truncateToInteger(-0.5)).toBe(0);
  expect(truncateToInteger(new Double(-0))).toBe(0);
  expect(truncateToInteger(Number.NaN)).toBe(0);
  expect(truncateToInteger(Infinity)).toBe(INT64_MAX);
  expect(truncateToInteger(new Double(-1e300))).toBe(INT64_MIN);
  expect(truncateToInteger(new Double(2 ** 60))).toBe(2n ** 60n);
  expect(truncateToInteger(2n ** 60n)).toBe(2n ** 60n);
  expect(truncateToInteger(7)).toBe(7);
});

test('asDouble() wraps integral numbers in Double', () => {
  expect(asDouble(1)).toEqual(new Double(1));
  expect(asDouble(2n ** 60n)).toEqual(new Double(2 ** 60));
  expect(asDouble(0.5)).toBe(0.5);
  expect(toDouble(new Double(3))).toBe(3);
});
