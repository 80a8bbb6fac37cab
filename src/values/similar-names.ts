import { sharedLength } from './shared-length.ts';

/** Length of the part in which two texts differ: the longer text without the start and the end that both share. */
export function differingChars(one: string, other: string): number {
  const start = sharedLength(one, other);
  let end = 0;
  const rest = Math.min(one.length, other.length) - start;
  while (end < rest && one.at(-1 - end) === other.at(-1 - end)) end++;
  return Math.max(one.length, other.length) - start - end;
}

/** Whether `name` looks like `known` with a typo: they differ in one place, by up to two characters (one if `known` has four). */
export const isNearly = (name: string, known: string): boolean =>
  differingChars(name, known) <= Math.min(2, Math.max(0, known.length - 3));
