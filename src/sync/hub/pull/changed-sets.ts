/** Reduces the sets in an answer to those that have changed. */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Pull, Pulled } from '../../protocol/messages.ts';
import type { RequestedSet, SetAnswer } from '../../protocol/sets.ts';

/** Leaves out complete sets with the same parts as in the request. The device keeps what it has of sets that an answer leaves out. */
export function withoutKnownSets(message: Pull, pulled: Pulled): Pulled {
  const asked = new Map(message.sets.map((set) => [set.id, textOf(set)]));
  const isKnown = (set: SetAnswer): boolean =>
    // A set without parts may have had an error before, which the request does not show.
    set.parts.length > 0 && isLoaded(set) && textOf(set) === asked.get(set.id);
  return { ...pulled, sets: pulled.sets.filter((set) => !isKnown(set)) };
}

const textOf = ({ parts, loaded }: Pick<RequestedSet, 'parts' | 'loaded'>): string =>
  JSON.stringify([parts, loaded]);
