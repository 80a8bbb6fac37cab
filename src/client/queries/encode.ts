import { UsageError } from '../errors.ts';
import { isExpr } from './is-expr.ts';
import { doublesSeen, type Double } from './values.ts';

/** Wire JSON text of an expression: 64-bit integers whole, `Double(1)` as `1.0`. */
export function encodeQuery(expression: unknown): string {
  const text = plainText(expression) ?? withinDepth(() => write(expression));
  if (text === undefined) throw new UsageError('The query is undefined; pass an expression.');
  return text;
}

/** By the platform, when it can write everything that is in there. */
function plainText(expression: unknown): string | undefined {
  // With one, as apps define it for other libraries, an integer would be stored as text.
  if ('toJSON' in BigInt.prototype) return undefined;
  const before = doublesSeen.count;
  try {
    const text: string | undefined = JSON.stringify(expression);
    return doublesSeen.count === before ? text : undefined;
  } catch (error) {
    // A bigint inside; or a cycle or too deep a nest, which the exact writer then reports.
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** @throws UsageError for what nests too deeply or contains itself */
export function withinDepth<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new UsageError('The query is nested too deeply or contains itself.', { cause });
  }
}

/** As `JSON.stringify` writes, and exact where it is not. Undefined: no text, as for `undefined`. */
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

/** Of another copy of this package, too. */
const isDouble = (value: unknown): value is Double => isExpr(value) && '_isFaunaDouble' in value;

function doubleText(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
