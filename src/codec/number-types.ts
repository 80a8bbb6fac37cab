/**
 * Records which integral numbers among values are Doubles, because ordered bytes do not distinguish 1 and 1.0. There is
 * one bit for each number that could be either (integral and within int64), in the order of encoding. A byte holds
 * seven bits, lowest first; its highest bit is set if another byte follows.
 */
import { orderedView, sortedKeys } from '../values/compare.ts';
import { toDouble } from '../values/number.ts';
import { Double, isArray, isInteger, isObject, type Value } from '../values/value.ts';
import { readByte, type Cursor } from './ordered-bytes.ts';

const BITS_PER_BYTE = 7;
const MORE = 0x80;
const ALL_INTEGERS = '\x00';

interface Count {
  seen: number;
  /** Indexes of the numbers that are Doubles. */
  readonly doubles: number[];
}

export function encodeNumberTypes(values: readonly Value[]): string {
  const count: Count = { seen: 0, doubles: [] };
  for (const value of values) collect(value, count);
  return count.doubles.length === 0 ? ALL_INTEGERS : pack(count.doubles);
}

function collect(value: Value, count: Count): void {
  if (isInteger(value)) count.seen += 1;
  else if (typeof value === 'object' && value !== null) collectStructured(value, count);
}

function collectStructured(value: object & Value, count: Count): void {
  const seen = orderedView(value);
  if (seen instanceof Double) {
    if (!isAmbiguous(seen.value)) return;
    count.doubles.push(count.seen);
    count.seen += 1;
  } else if (seen !== null && typeof seen === 'object') {
    if (isArray(seen)) for (const item of seen) collect(item, count);
    else if (isObject(seen))
      for (const key of sortedKeys(seen)) collect(seen.get(key) ?? null, count);
  }
}

const TWO_63 = 2 ** 63;

/** -0.0 and numbers outside int64 can only be Doubles and are decoded as such. */
const isAmbiguous = (value: number): boolean =>
  value >= -TWO_63 && value < TWO_63 && !Object.is(value, -0);

function pack(doubles: readonly number[]): string {
  const bytes: number[] = Array.from(
    { length: Math.floor((doubles.at(-1) ?? 0) / BITS_PER_BYTE) + 1 },
    () => MORE,
  );
  for (const number of doubles) {
    const at = Math.floor(number / BITS_PER_BYTE);
    bytes[at] = (bytes[at] ?? 0) | (1 << (number % BITS_PER_BYTE));
  }
  bytes.push((bytes.pop() ?? 0) & ~MORE);
  return bytes.map((byte) => String.fromCharCode(byte)).join('');
}

/** No value is an integral Double, as in most entries. */
const NO_DOUBLES: readonly number[] = [0];

/** Reads the bytes that `encodeNumberTypes` wrote, without applying them. */
export function readNumberTypes(cursor: Cursor): readonly number[] {
  let byte = readByte(cursor);
  if (byte === 0) return NO_DOUBLES;
  const bytes = [byte];
  while (byte >= MORE) {
    byte = readByte(cursor);
    bytes.push(byte);
  }
  return bytes;
}

/** Turns the Integers among decoded values back into Doubles where `types` says so. */
export function restoreNumberTypes(
  values: readonly Value[],
  types: readonly number[],
): readonly Value[] {
  if (types === NO_DOUBLES) return values;
  let seen = 0;
  const restore = (value: Value): Value => {
    if (isInteger(value)) {
      const byte = types[Math.floor(seen / BITS_PER_BYTE)] ?? 0;
      const isDouble = (byte & (1 << (seen % BITS_PER_BYTE))) !== 0;
      seen += 1;
      return isDouble ? new Double(toDouble(value)) : value;
    }
    if (value === null || typeof value !== 'object') return value;
    if (isArray(value)) return value.map(restore);
    // Members come in the order of the key bytes, which is the order in which their bits were written.
    return isObject(value)
      ? new Map([...value].map(([key, member]) => [key, restore(member)]))
      : value;
  };
  return values.map(restore);
}
