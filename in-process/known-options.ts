import { UsageError } from '../src/index.ts';
import { wrongOptions } from '../src/values/wrong-options.ts';

/**
 * Of calls in the process of their caller, as the page has it of its own.
 * @param known undefined: any name may be meant
 * @throws UsageError
 */
export function requireKnown(given: unknown, known?: readonly string[]): void {
  const wrong = wrongOptions(given, known);
  if (wrong !== undefined) throw new UsageError(wrong);
}
