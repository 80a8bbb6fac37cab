import { differingChars } from './differing-chars.ts';

/**
 * What is wrong with the options of a call, as a sentence. A name that means nothing would be a wish that is silently not granted.
 * @param known undefined: any name may be meant
 * @returns undefined when nothing is
 */
export function wrongOptions(given: unknown, known?: readonly string[]): string | undefined {
  if (typeof given !== 'object' || given === null)
    return `Options must be an object, but are ${String(given)}.`;
  const wrong = known && Object.keys(given).find((name) => !known.includes(name));
  return wrong === undefined ? undefined : noOption(wrong, known);
}

/** @param known at least one */
export function noOption(name: string, known: readonly string[] = []): string {
  const nearest = known.reduce((best, each) =>
    differingChars(name, each) < differingChars(name, best) ? each : best,
  );
  return `There is no option \`${name}\`. Did you mean \`${nearest}\`? There are: ${known.join(', ')}.`;
}
