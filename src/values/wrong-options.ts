import { isNearly } from './differing-chars.ts';

/**
 * What is wrong with the options of a call, as a sentence. A name that means nothing would be a wish that is silently not granted.
 * @param known undefined: any name may be meant
 * @returns undefined when nothing is
 */
export function wrongOptions(given: unknown, known?: readonly string[]): string | undefined {
  if (typeof given !== 'object' || given === null) return noOptions(given);
  const name = known && Object.keys(given).find((each) => !known.includes(each));
  return name === undefined ? undefined : noOption(name, known);
}

/** What was given as options is no object. It is not shown: it may be a secret. */
export const noOptions = (given: unknown): string =>
  `Options must be an object, not ${given === null ? given : typeof given}.`;

/** Names in an option that is an object have its name before them: `log.enabled`. */
export function noOption(name: string, known: readonly string[] = []): string {
  const meant = known.find((each) => isNearly(name, each) || each.endsWith(`.${name}`));
  const more =
    meant === undefined ? `There are: ${known.join(', ')}.` : `Did you mean \`${meant}\`?`;
  return `There is no option \`${name}\`. ${more}`;
}

/** A name that is nearly a known one, as a sentence; others may be meant. */
export function misspeltOption(given: object, known: readonly string[]): string | undefined {
  const wrong = Object.keys(given).find(
    (name) => !known.includes(name) && known.some((each) => isNearly(name, each)),
  );
  return wrong === undefined ? undefined : noOption(wrong, known);
}
