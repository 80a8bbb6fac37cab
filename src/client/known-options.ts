import { wrongOptions } from '../values/wrong-options.ts';
import { UsageError } from './errors.ts';

/**
 * Of calls whose options have no table (`read-options.ts`).
 * @param known undefined: any name may be meant
 * @throws UsageError
 */
export function requireKnown(given: unknown, known?: readonly string[]): void {
  const wrong = wrongOptions(given, known);
  if (wrong !== undefined) throw new UsageError(wrong);
  const { signal } = given as { readonly signal?: { readonly addEventListener?: unknown } | null };
  if (signal && typeof signal.addEventListener !== 'function')
    throw new UsageError('The option `signal` must be an AbortSignal.');
}
