import { UsageError } from '../index.ts';
import { wrongOptions } from '../values/wrong-options.ts';

/**
 * For the options of schemas, and of databases in the process of their caller.
 * @param known undefined if any name is allowed
 * @throws UsageError
 */
export function requireKnown(given: unknown, known?: readonly string[]): void {
  const wrong = wrongOptions(given, known);
  if (wrong !== undefined) throw new UsageError(wrong);
}

/** @param path path of the value in the options @throws UsageError */
export function requireObject(value: unknown, path: string): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw wrongValue(path, 'an object', value);
}

/** @throws UsageError */
export function requireArray(value: unknown, path: string): void {
  if (!Array.isArray(value)) throw wrongValue(path, 'an array', value);
}

export const wrongValue = (path: string, wanted: string, value: unknown): UsageError =>
  new UsageError(`\`${path}\` must be ${wanted}, but is ${shown(value)}.`);

/** A value for messages, without the members of objects, which may be long. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
