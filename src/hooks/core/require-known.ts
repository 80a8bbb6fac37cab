import { UsageError } from '../../index.ts';

/**
 * Rejects unknown options: they would be ignored silently.
 * @param others matches names that are allowed but are not options
 * @throws UsageError
 */
export function requireKnown(
  given: object | null | undefined,
  known: readonly string[],
  others?: RegExp,
): void {
  // The message does not quote the value, which may be a secret.
  if (typeof given !== 'object' || !given)
    throw new UsageError(`Options must be an object, not ${given && typeof given}.`);
  for (const name of Object.keys(given))
    if (!known.includes(name) && !others?.test(name))
      throw new UsageError(`There is no option \`${name}\`. There are: ${known.join(', ')}.`);
}
