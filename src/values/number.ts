/** Arithmetic of FQL on int64 and double. Spec: values 11. */
import { double, integer, type Double } from './value.ts';

export type IntegerValue = number | bigint;
export type DoubleValue = number | Double;
export type NumberValue = IntegerValue | DoubleValue;

export const INT64_MAX = 2n ** 63n - 1n;
export const INT64_MIN = -(2n ** 63n);
const TWO_63 = 2 ** 63;

/** The nearest value from `min` to `max`. */
export const clamp = (value: bigint, min: bigint, max: bigint): bigint => {
  if (value < min) return min;
  return value > max ? max : value;
};

export const toDouble = (value: NumberValue): number => {
  if (typeof value === 'number') return value;
  return typeof value === 'bigint' ? Number(value) : value.value;
};

/** Wraps around at int64. */
export function addIntegers(a: IntegerValue, b: IntegerValue): IntegerValue {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return integer(BigInt(a) + BigInt(b));
}

/** Wraps around at int64. */
export function subtractIntegers(a: IntegerValue, b: IntegerValue): IntegerValue {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return integer(BigInt(a) - BigInt(b));
}

/** Wraps around at int64. */
export function multiplyIntegers(a: IntegerValue, b: IntegerValue): IntegerValue {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    // `+ 0` turns -0 (the product of -1 and 0) into 0, because -0 is not an Integer.
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return integer(BigInt(a) * BigInt(b));
}

/** Truncates, clamps to int64, and maps NaN to 0. */
export function truncateToInteger(value: NumberValue): IntegerValue {
  if (typeof value === 'bigint') return value;
  const number = typeof value === 'number' ? value : value.value;
  if (Number.isNaN(number)) return 0;
  if (number >= TWO_63) return INT64_MAX;
  if (number <= -TWO_63) return INT64_MIN;
  const whole = Math.trunc(number);
  return Number.isSafeInteger(whole) ? whole + 0 : integer(BigInt(whole));
}

/** Converts a number to a Double: `1` to `1.0`. */
export const asDouble = (value: NumberValue): DoubleValue => double(toDouble(value));
