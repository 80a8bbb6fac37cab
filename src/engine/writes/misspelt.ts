/**
 * Refuses misspelt fields of schema objects. The original drops unknown fields, and programs rely on that. So only names that are similar
 * to a known name are refused, which would otherwise be dropped silently.
 */
import type { Step } from '../../errors.ts';
import { differingChars, isNearly } from '../../values/similar-names.ts';
import type { ObjectValue } from '../../values/value.ts';
import { refuse, type Draft } from './draft.ts';

/** @param synonyms other words that users may write for some of `known` */
export function refuseMisspelt(
  draft: Draft,
  given: ObjectValue,
  known: readonly string[],
  field: readonly Step[],
  synonyms?: ReadonlyMap<string, string>,
): void {
  for (const [name, value] of given) {
    if (value === null || known.includes(name)) continue;
    const meant = synonyms?.get(name) ?? known.find((each) => isMeant(plain(name), plain(each)));
    if (meant !== undefined)
      refuse(draft, [...field, name], 'unknown member', `Did you mean '${meant}'?`);
  }
}

/**
 * Whether `name` is similar to `known`. Also if one character of a three-letter name differs, or two neighbouring characters are swapped.
 */
function isMeant(name: string, known: string): boolean {
  const differing = differingChars(name, known);
  return (
    isNearly(name, known) ||
    (differing === 1 && known.length === 3) ||
    (differing === 2 && sorted(name) === sorted(known))
  );
}

const sorted = (text: string): string => text.split('').sort().join('');

/** Removes capitals, underscores and the `s` of the plural. */
const plain = (name: string): string => name.toLowerCase().replace(/_|s$/g, '');
