/**
 * Misspelt members of schema objects. The original drops members that it does not know, and programs rely on it, so only
 * names that are nearly a known one are refused: what they mean would be dropped in silence.
 */
import type { Step } from '../../errors.ts';
import { isNearly } from '../../values/differing-chars.ts';
import type { ObjectValue } from '../../values/value.ts';
import { refuse, type Draft } from './draft.ts';

/** @param synonyms names of functions for some of `known` */
export function refuseMisspelt(
  draft: Draft,
  given: ObjectValue,
  known: readonly string[],
  field: readonly Step[],
  synonyms?: ReadonlyMap<string, string>,
): void {
  for (const [name, value] of given) {
    if (value === null || known.includes(name)) continue;
    const meant = synonyms?.get(name) ?? known.find((each) => isNearly(plain(name), plain(each)));
    if (meant !== undefined)
      refuse(draft, [...field, name], 'unknown member', `Did you mean '${meant}'?`);
  }
}

/** Without capitals, underscores and the `s` of the plural. */
const plain = (name: string): string => name.toLowerCase().replace(/_|s$/g, '');
