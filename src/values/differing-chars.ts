import { sharedLength } from './shared-length.ts';

/** How long the part is in which two texts differ: what is left of the longer one without the start and end that they share. */
export function differingChars(one: string, other: string): number {
  const start = sharedLength(one, other);
  let end = 0;
  const rest = Math.min(one.length, other.length) - start;
  while (end < rest && one.at(-1 - end) === other.at(-1 - end)) end++;
  return Math.max(one.length, other.length) - start - end;
}

/** One character of four is another one, or up to two of more, all in one place. */
export const isNearly = (name: string, known: string): boolean =>
  differingChars(name, known) <= Math.min(2, Math.max(0, known.length - 3));
