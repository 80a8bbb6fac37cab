/** Rounding to a number of decimal places. Negative places are left of the decimal point. Spec: functions 1.10. */
import {
  INT64_MAX,
  INT64_MIN,
  toDouble,
  type IntegerValue,
  type NumberValue,
} from '../../values/number.ts';
import { double, integer, isInteger } from '../../values/value.ts';

// Beyond these numbers of places an Integer or a Double has no digits.
const INTEGER_PLACES = 19;
const DOUBLE_PLACES = 308;

/**
 * Computes `trunc(x·10^p + 0.5)`. Halves are rounded up. A negative number is rounded to a place above it, even if the
 * place below is nearer: -2.6 becomes -2.0.
 */
export const roundNumber = (value: NumberValue, places: number): NumberValue =>
  isInteger(value)
    ? scaleInteger(value, places, (n, unit) => (2n * n + unit) / (2n * unit))
    : double(scaleDouble(toDouble(value), places, (n) => Math.trunc(n + 0.5)));

/** Truncates toward zero. */
export const truncateNumber = (value: NumberValue, places: number): NumberValue =>
  isInteger(value)
    ? scaleInteger(value, places, (n, unit) => n / unit)
    : double(scaleDouble(toDouble(value), places, Math.trunc));

function scaleInteger(
  value: IntegerValue,
  places: number,
  cut: (n: bigint, unit: bigint) => bigint,
): IntegerValue {
  if (places >= 0) return value;
  if (places < -INTEGER_PLACES) return 0;
  const unit = 10n ** BigInt(-places);
  const result = cut(BigInt(value), unit) * unit;
  if (result > INT64_MAX) return INT64_MAX;
  return result < INT64_MIN ? INT64_MIN : integer(result);
}

function scaleDouble(value: number, places: number, cut: (n: number) => number): number {
  if (!Number.isFinite(value) || places > DOUBLE_PLACES) return value;
  if (places < -DOUBLE_PLACES) return 0;
  // A text, because `10 ** 23` is not the double nearest to 10^23.
  const unit = Number(`1e${Math.abs(places)}`);
  if (places < 0) return cut(value / unit) * unit;
  const scaled = value * unit;
  return Number.isFinite(scaled) ? cut(scaled) / unit : value;
}
