import { UsageError } from '../index.ts';
import { wrongOptions } from '../values/wrong-options.ts';

/** @throws UsageError */
export function requireKnown(given: unknown, known?: readonly string[]): void {
  const wrong = wrongOptions(given, known);
  if (wrong !== undefined) throw new UsageError(wrong);
}
