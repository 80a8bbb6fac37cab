import { UsageError } from '../errors.ts';
import { isExpr } from './is-expr.ts';
import { doublesSeen, type Double } from './values.ts';

/** The wire JSON text of an expression: 64-bit integers are exact, and `Double(1)` is written as `1.0`. */
export function encodeQuery(expression: unknown): string {
  const text = plainText(expression) ?? withinDepth(() => write(expression));
  if (text === undefined) throw new UsageError('The query is undefined; pass an expression.');
  return text;
}

/** Uses `JSON.stringify` if that encodes every value in the expression; otherwise returns undefined. */
function plainText(expression: unknown): string | undefined {
  // Some apps define `BigInt.prototype.toJSON` for other libraries: an integer would then be encoded as a string.
  if ('toJSON' in BigInt.prototype) return undefined;
  const before = doublesSeen.count;
  try {
    const text: string | undefined = JSON.stringify(expression);
    return doublesSeen.count === before ? text : undefined;
  } catch (error) {
    // The expression contains a bigint, a cycle or too deep a nesting. The exact writer encodes the first and reports the others.
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** @throws UsageError for an expression that is nested too deeply or contains itself */
export function withinDepth<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UsageError('The query is nested too deeply or contains itself.', { cause });
  }
}

/** Writes what `JSON.stringify` writes, but exactly. Undefined for values without JSON text, such as `undefined`. */
function write(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString();
  if (isDouble(value)) return doubleText(value.value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON());
  if (Array.isArray(value))
    return `[${Array.from(value, (each) => write(each) ?? 'null').join(',')}]`;
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    const text = write(member);
    if (text !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

/** Also true for a Double of another copy of this package. */
const isDouble = (value: unknown): value is Double => isExpr(value) && '_isFaunaDouble' in value;

function doubleText(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
