import { UsageError } from '../../index.ts';

/**
 * What nobody knows would be a wish that is silently not granted.
 * @param others names that are no options
 * @throws UsageError
 */
export function requireKnown(
  given: object | null | undefined,
  known: readonly string[],
  others?: RegExp,
): void {
  // Not shown: it may be a secret.
  if (typeof given !== 'object' || !given)
    throw new UsageError(`Options must be an object, not ${given && typeof given}.`);
  for (const name of Object.keys(given))
    if (!known.includes(name) && !others?.test(name))
      throw new UsageError(`There is no option \`${name}\`. There are: ${known.join(', ')}.`);
}
