/** Which sets an answer tells of. */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Pull, Pulled } from '../../protocol/messages.ts';
import type { RequestedSet, SetAnswer } from '../../protocol/sets.ts';

/** Without those that are as the device said: it goes on with what it has of a set that is not in an answer. */
export function withoutKnownSets(message: Pull, pulled: Pulled): Pulled {
  const asked = new Map(message.sets.map((set) => [set.id, textOf(set)]));
  const isKnown = (set: SetAnswer): boolean =>
    // One without parts may have been refused before, which no request says.
    set.parts.length > 0 && isLoaded(set) && textOf(set) === asked.get(set.id);
  return { ...pulled, sets: pulled.sets.filter((set) => !isKnown(set)) };
}

const textOf = ({ parts, loaded }: Pick<RequestedSet, 'parts' | 'loaded'>): string =>
  JSON.stringify([parts, loaded]);
