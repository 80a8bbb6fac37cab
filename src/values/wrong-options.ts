import { isNearly } from './similar-names.ts';

/**
 * Checks the options of a call. An unknown name is an error, because an option that is ignored silently would mislead the caller.
 * @param known the names that are allowed; undefined: any name is
 * @returns what is wrong, as a sentence; undefined if nothing is
 */
export function wrongOptions(given: unknown, known?: readonly string[]): string | undefined {
  if (typeof given !== 'object' || given === null) return noOptions(given);
  const name = known && Object.keys(given).find((each) => !known.includes(each));
  return name === undefined ? undefined : noOption(name, known);
}

/** The error for options that are not an object. The value is not shown, because it may be a secret. */
export const noOptions = (given: unknown): string =>
  `Options must be an object, not ${given === null ? given : typeof given}.`;

/** The error for an unknown option. Names in a nested object are prefixed with the name of that object: `log.enabled`. */
export function noOption(name: string, known: readonly string[] = []): string {
  const meant = known.find((each) => isNearly(name, each) || each.endsWith(`.${name}`));
  const more =
    meant === undefined ? `There are: ${known.join(', ')}.` : `Did you mean \`${meant}\`?`;
  return `There is no option \`${name}\`. ${more}`;
}

/** The error for a name that looks like a misspelt known name. Undefined if there is none: other unknown names are allowed. */
export function misspeltOption(given: object, known: readonly string[]): string | undefined {
  const wrong = Object.keys(given).find(
    (name) => !known.includes(name) && known.some((each) => isNearly(name, each)),
  );
  return wrong === undefined ? undefined : noOption(wrong, known);
}
