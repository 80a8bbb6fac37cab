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
