/**
 * Powers, logarithms, sine, cosine and tangent of doubles, computed with integers. A result is the double nearest to the exact one, so it
 * is the same in every browser and every version of Node. The functions of `Math` differ there in the last digit. Those of Java, which the
 * original used, are nearly always the nearest double.
 *
 * Fixed-point numbers are `bigint`s that count units of 2^-192. A number of at least 2^-62 then has 130 correct bits.
 */

const FIXED_BITS = 192;
const SHIFT = BigInt(FIXED_BITS);
const ONE = 1n << SHIFT;

const multiply = (a: bigint, b: bigint): bigint => (a * b) >> SHIFT;
const divide = (a: bigint, b: bigint): bigint => (a << SHIFT) / b;

const view = new DataView(new ArrayBuffer(8));

/** Splits a positive number into an integer and a power of two. */
function partsOf(value: number): readonly [integer: bigint, exponent: number] {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  return exponent === 0 ? [fraction, -1074] : [fraction | (1n << 52n), exponent - 1075];
}

const shifted = (value: bigint, bits: number): bigint =>
  bits >= 0 ? value << BigInt(bits) : value >> BigInt(-bits);

/** A positive number, or 0, in units of 2^-bits. */
function fixed(value: number, bits = FIXED_BITS): bigint {
  const [integer, exponent] = partsOf(value);
  return shifted(integer, exponent + bits);
}

/** `value` × 2^-bits, rounded to the nearest integer, halves to an even one. */
function rounded(value: bigint, bits: number): bigint {
  if (bits <= 0) return value << BigInt(-bits);
  const integer = value >> BigInt(bits);
  const rest = value - (integer << BigInt(bits));
  const half = 1n << BigInt(bits - 1);
  return rest > half || (rest === half && integer % 2n === 1n) ? integer + 1n : integer;
}

/** A result is rounded to these bits first: one that lies exactly halfway between two doubles then does so here, too. */
const RESULT_BITS = 116;
/** All doubles are multiples of 2^-1074. */
const SMALLEST_BITS = 1074;

/** The double nearest to a number in units of 2^-bits. */
function toDouble(value: bigint, bits = FIXED_BITS): number {
  if (value < 0n) return -toDouble(-value, bits);
  const excess = value.toString(2).length - RESULT_BITS;
  const result = rounded(value, excess);
  const exponent = excess - bits;
  if (exponent < RESULT_BITS - SMALLEST_BITS)
    return Number(rounded(result, -SMALLEST_BITS - exponent)) * Number.MIN_VALUE;
  // In two steps, because the power of two alone may exceed the largest double.
  const half = exponent >> 1;
  return Number(result) * 2 ** half * 2 ** (exponent - half);
}

/**
 * Sums a Taylor series: each term is the one before, times `square` / (n × (n + 1)), where n grows by 2.
 * From `ONE` with n = 1 these are cos and cosh, from x with n = 2 sin and sinh.
 */
function taylor(first: bigint, n: number, square: bigint): bigint {
  let sum = first;
  for (let [term, at] = [first, n]; term !== 0n; at += 2) {
    term = multiply(term, square) / BigInt(at * (at + 1));
    sum += term;
  }
  return sum;
}

/** The inverse hyperbolic tangent of a number from 0 to 1/3. */
function atanh(value: bigint): bigint {
  const square = multiply(value, value);
  let sum = 0n;
  for (let [power, n] = [value, 1n]; power !== 0n; n += 2n) {
    sum += power / n;
    power = multiply(power, square);
  }
  return sum;
}

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => (made ??= make());
};

const ln2 = once(() => 2n * atanh(ONE / 3n));
const ln10 = once(() => 3n * ln2() + 2n * atanh(ONE / 9n));

/** A power of e, as a fixed-point number between 1/2 and 2, and a power of two. */
function powerOfE(value: bigint): readonly [fixed: bigint, exponent: number] {
  const exponent = value / ln2();
  const rest = value - exponent * ln2();
  const square = multiply(rest, rest);
  return [taylor(ONE, 1, square) + taylor(rest, 2, square), Number(exponent)];
}

/** The natural logarithm of a positive number. */
function logarithm(value: number): bigint {
  const [integer, exponent] = partsOf(value);
  const length = integer.toString(2).length;
  // From 1/2 to 1.
  const part = shifted(integer, FIXED_BITS - length);
  const sum = atanh(divide(ONE - part, ONE + part));
  return BigInt(exponent + length) * ln2() - 2n * sum;
}

/** Infinity and NaN, for which the results of `Math` are exact, are left to it. */
const ofFinite =
  (nearest: (value: number) => number, ofOther: (value: number) => number) =>
  (value: number): number =>
    Number.isFinite(value) ? nearest(value) : ofOther(value);

/** Larger powers of e are infinite, and smaller ones of the negative number are 0. */
const POWER_MAX = 746;

export const exp = ofFinite((value) => {
  if (Math.abs(value) > POWER_MAX) return value > 0 ? Infinity : 0;
  const magnitude = fixed(Math.abs(value));
  const [power, exponent] = powerOfE(value < 0 ? -magnitude : magnitude);
  return toDouble(power, FIXED_BITS - exponent);
}, Math.exp);

/** The natural logarithm of a positive number. */
export const ln = ofFinite((value) => toDouble(logarithm(value)), Math.log);

/** The decimal logarithm of a positive number. */
export const log10 = ofFinite((value) => toDouble(divide(logarithm(value), ln10())), Math.log10);

export function pow(base: number, power: number): number {
  // The results for these are exact.
  if (!Number.isFinite(base) || !Number.isFinite(power) || base === 0 || power === 0)
    return Math.pow(base, power);
  if (base < 0) {
    if (!Number.isInteger(power)) return NaN;
    return power % 2 === 0 ? pow(-base, power) : -pow(-base, power);
  }
  const [integer, exponent] = partsOf(Math.abs(power));
  const product = shifted(logarithm(base) * (power < 0 ? -integer : integer), exponent);
  if (product > ONE << 10n) return Infinity;
  if (product < -(ONE << 10n)) return 0;
  const [result, resultExponent] = powerOfE(product);
  return toDouble(result, FIXED_BITS - resultExponent);
}

/** With so many bits, π times 2^1024, which is larger than all doubles, is exact enough. */
const PI_BITS = 1280;
const pi = once(() => 16n * inverseAtan(5n) - 4n * inverseAtan(239n));

/** The inverse tangent of 1/n, in units of 2^-PI_BITS. */
function inverseAtan(n: bigint): bigint {
  let sum = 0n;
  for (let [power, at] = [(1n << BigInt(PI_BITS)) / n, 1n]; power !== 0n; at += 2n) {
    sum += power / at;
    power /= -n * n;
  }
  return sum;
}

interface Angle {
  readonly quarters: bigint;
  /** Beyond the full quarters of a turn: from -π/4 to π/4. */
  readonly rest: bigint;
}

/** @param angle 0, or positive and finite */
function angleFrom(angle: number): Angle {
  const bits = angle < 2 ** 50 ? 256 : PI_BITS;
  const halfPi = pi() >> BigInt(PI_BITS - bits + 1);
  const value = fixed(angle, bits);
  const quarters = (2n * value + halfPi) / (2n * halfPi);
  return { quarters, rest: (value - quarters * halfPi) >> BigInt(bits - FIXED_BITS) };
}

/** @param more further quarters of a turn: with one of them, this is the cosine */
function sineOf({ quarters, rest }: Angle, more = 0n): bigint {
  const square = -multiply(rest, rest);
  const quadrant = (quarters + more) % 4n;
  const value = quadrant % 2n === 0n ? taylor(rest, 2, square) : taylor(ONE, 1, square);
  return quadrant < 2n ? value : -value;
}

const cosineOf = (angle: Angle): bigint => sineOf(angle, 1n);

/** A smaller angle is the double nearest to its sine and tangent: they differ by a factor of at most 1 ± 2^-56. */
const TINY = 2 ** -28;

/** @param positive for angles from `TINY` on; at -x, the function is the negative of that at x */
const odd = (positive: (angle: Angle) => bigint, ofOther: (value: number) => number) =>
  ofFinite((angle) => {
    if (Math.abs(angle) < TINY) return angle;
    const result = toDouble(positive(angleFrom(Math.abs(angle))));
    return angle < 0 ? -result : result;
  }, ofOther);

export const sin = odd(sineOf, Math.sin);
export const tan = odd((angle) => divide(sineOf(angle), cosineOf(angle)), Math.tan);
export const cos = ofFinite((angle) => toDouble(cosineOf(angleFrom(Math.abs(angle)))), Math.cos);
