/** What a pull says of the sets. */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { Pulled } from '../../protocol/messages.ts';
import type { SetPart } from '../../protocol/sets.ts';
import type { KeptSet, ReplicaState } from '../state/replica-state.ts';

export function setsAfterPull({ sets }: ReplicaState, pulled: Pulled): readonly KeptSet[] {
  const answers = new Map(pulled.sets.map((each) => [each.id, each]));
  return sets.map((set) => {
    const answer = answers.get(set.id);
    if (!answer) return set;
    const { parts, loaded, error } = answer;
    const of = answer.of ?? set.of;
    const loadedRows = set.rows + (isLoaded(set) ? 0 : pulled.puts.length);
    const rows = isLoaded(answer) ? (answer.of ?? loadedRows) : loadedRows;
    return { ...set, parts, loaded, of, rows, error };
  });
}

export const partsOf = (sets: readonly KeptSet[]): readonly SetPart[] =>
  sets.flatMap(({ parts, error }) => (error ? [] : (parts ?? [])));
