/**
 * Misspelt members of schema objects. The original drops members that it does not know, and programs rely on it, so only
 * names that are nearly a known one are refused: what they mean would be dropped in silence.
 */
import type { Step } from '../../errors.ts';
import { differingChars, isNearly } from '../../values/differing-chars.ts';
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
    const meant = synonyms?.get(name) ?? known.find((each) => isMeant(plain(name), plain(each)));
    if (meant !== undefined)
      refuse(draft, [...field, name], 'unknown member', `Did you mean '${meant}'?`);
  }
}

/** Of short names too: one of three characters is another one, or two neighbours have changed places. */
function isMeant(name: string, known: string): boolean {
  const differing = differingChars(name, known);
  return (
    isNearly(name, known) ||
    (differing === 1 && known.length === 3) ||
    (differing === 2 && sorted(name) === sorted(known))
  );
}

const sorted = (text: string): string => text.split('').sort().join('');

/** Without capitals, underscores and the `s` of the plural. */
const plain = (name: string): string => name.toLowerCase().replace(/_|s$/g, '');
