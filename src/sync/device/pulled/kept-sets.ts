/** Changes which sets the copy keeps. */
import { ChangedKeys } from '../rebase/changed-keys.ts';
import { rebasePending } from '../rebase/rebase.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import type { KeptSet, ReplicaState } from '../state/replica-state.ts';
import { dropStaged } from '../state/staged-rows.ts';
import { dropParts } from './set-contents.ts';

/** @param wanted in order of priority; documents of other sets are removed @throws Suspended */
export function setKeptSets(
  { input, state, host }: ReplicaTransaction,
  wanted: readonly Pick<KeptSet, 'id' | 'query'>[],
): StateChange<ReplicaState> {
  const known = new Map(state.sets.map((set) => [set.id, set]));
  const sets = wanted.map(({ id, query }): KeptSet => {
    const before = known.get(id);
    return before?.query === query ? before : { ...NEW_SET, id, query };
  });
  // Each tab puts them when it opens: a catch-up under way goes on.
  if (sets.length === state.sets.length && sets.every((set, at) => set === state.sets[at]))
    return { value: state };
  const kept = sets.flatMap(({ parts }) => parts ?? []);
  const dropped = state.sets
    .filter((set) => !sets.includes(set))
    .flatMap(({ parts }) => parts ?? []);
  const changed = new ChangedKeys();
  dropParts(input.writer, dropped, kept, changed);
  // Staged parts of a pull are of the sets before.
  dropStaged(input.writer, state);
  const next = { ...state, sets, staged: undefined };
  if (changed.rows.size === 0) return { value: next, next };
  const rebased = rebasePending({ input, state: next, host }, changed);
  return { value: rebased.next, ...rebased };
}

const NEW_SET: Omit<KeptSet, 'id' | 'query'> = {
  parts: undefined,
  loaded: 'nothing',
  rows: 0,
  of: undefined,
  error: undefined,
};
