import { UsageError } from '../index.ts';
import { wrongOptions } from '../values/wrong-options.ts';

/**
 * Of calls beside the page's own: schemas, and databases in the process of their caller.
 * @param known undefined: any name may be meant
 * @throws UsageError
 */
export function requireKnown(given: unknown, known?: readonly string[]): void {
  const wrong = wrongOptions(given, known);
  if (wrong !== undefined) throw new UsageError(wrong);
}

/** @param path of the value in what was given @throws UsageError */
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

/** Not the members of an object: they may be long. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
