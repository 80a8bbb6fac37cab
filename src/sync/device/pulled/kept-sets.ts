/** Changes which sets the copy keeps. */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import { ChangedKeys } from '../rebase/changed-keys.ts';
import { rebasePending } from '../rebase/rebase.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import {
  inDoubt,
  suspectOnceMore,
  type KeptSet,
  type ReplicaState,
} from '../state/replica-state.ts';
import { dropStaged } from '../state/staged-rows.ts';
import { dropParts } from './set-contents.ts';

/**
 * Documents of sets that are no longer kept are removed, but only when the hub has resolved all new sets: a device without a connection
 * that words its sets differently keeps its data until then.
 * @param wanted in order of priority
 * @throws Suspended
 */
export function setKeptSets(
  { input, state, host }: ReplicaTransaction,
  wanted: readonly Pick<KeptSet, 'id' | 'query'>[],
): StateChange<ReplicaState> {
  const known = new Map(state.sets.map((set) => [set.id, set]));
  const sets = wanted.map(({ id, query }): KeptSet => {
    const before = known.get(id);
    return before?.query === query ? before : { ...NEW_SET, id, query };
  });
  // Each tab calls this when it opens. If the sets are unchanged, a catch-up that is running continues.
  if (sets.length === state.sets.length && sets.every((set, at) => set === state.sets[at]))
    return { value: state };
  const kept = sets.flatMap(({ parts }) => parts ?? []);
  const given = state.sets.filter((set) => !sets.includes(set));
  const givenUp = [...(state.givenUp ?? []), ...given.flatMap(({ parts }) => parts ?? [])];
  const mustWait = sets.some(({ parts }) => !parts);
  const changed = new ChangedKeys();
  if (!mustWait) dropParts(input.writer, givenUp, kept, changed);
  // Staged parts of a pull belong to the previous sets.
  dropStaged(input.writer, state);
  // A document may also be in a set that is still being loaded. Until its page comes, the hub does not report that it is gone.
  const isUnsure = givenUp.length > 0 && !sets.every(isLoaded);
  const suspectSince = isUnsure ? suspectOnceMore(state) : state.suspectSince;
  const next = {
    ...state,
    sets: suspectSince === undefined ? sets : inDoubt(sets),
    staged: undefined,
    givenUp: mustWait ? givenUp : undefined,
    suspectSince,
  };
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
