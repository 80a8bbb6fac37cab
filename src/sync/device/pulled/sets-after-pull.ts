/** The sets of the copy after a pull. */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Pulled } from '../../protocol/messages.ts';
import type { SetAnswer, SetPart } from '../../protocol/sets.ts';
import type { KeptSet, ReplicaState } from '../state/replica-state.ts';

export function setsAfterPull({ sets }: ReplicaState, pulled: Pulled): readonly KeptSet[] {
  const answers = new Map(pulled.sets.map((each) => [each.id, each]));
  return sets.map((set) => {
    const answer = answers.get(set.id);
    if (!answer) return set;
    const { parts, loaded, error } = answer;
    const of = answer.of ?? set.of;
    // If two sets were loaded at once, the documents of one cannot be distinguished from those of the other here.
    const came = set.rows + (hasGotOn(set, loaded) ? pulled.puts.length : 0);
    const rows = Math.min(isLoaded(answer) ? (answer.of ?? came) : came, of ?? came);
    return { ...set, parts, loaded, of, rows: error ? 0 : rows, error };
  });
}

/** Whether the pull had a page of the set. Pages come for the first incomplete sets; others keep their position, or begin at `''`. */
const hasGotOn = (set: KeptSet, loaded: SetAnswer['loaded']): boolean =>
  !isLoaded(set) &&
  loaded.some((position, part) => position !== '' && position !== set.loaded[part]);

export const partsOf = (sets: readonly KeptSet[]): readonly SetPart[] =>
  sets.flatMap(({ parts, error }) => (error ? [] : (parts ?? [])));
