/** Ranges of keys. `src/store/scan.ts` makes scans of them. */
import { after, HIGHEST_KEY, LOWEST_KEY, metaKey, type Key } from './key.ts';

/** The keys from `lower` up to, but not including, `upper`. */
export interface KeyRange {
  readonly lower: Key;
  readonly upper: Key;
}

export const EVERY_KEY: KeyRange = { lower: LOWEST_KEY, upper: HIGHEST_KEY };

/** All keys that start with `prefix`. */
export const prefixRange = (prefix: Key): KeyRange => ({ lower: prefix, upper: after(prefix) });

/** The rows of `meta` or `files` with a name that starts with `folder/`. '0' is the character after '/'. */
export const metaRange = (folder: string): KeyRange => ({
  lower: metaKey(`${folder}/`),
  upper: metaKey(`${folder}0`),
});

export const isInRange = (key: Key, { lower, upper }: KeyRange): boolean =>
  key >= lower && key < upper;
