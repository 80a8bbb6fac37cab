import { UsageError } from './errors.ts';

/**
 * Of calls whose options have no table (`read-options.ts`): a name that means nothing would be a wish that is silently not granted.
 * @throws UsageError
 */
export function requireKnown(given: object, known: readonly string[]): void {
  for (const name of Object.keys(given))
    if (!known.includes(name))
      throw new UsageError(`There is no option \`${name}\`, but: ${known.join(', ')}.`);
}
