/** Sets to keep a copy of from now on. */
import type { ReplicaSet, ReplicaState } from '../state/api.ts';
import { Touched } from '../rebase/changed-keys.ts';
import { dropParts } from './confirmed.ts';
import { rebasePending } from '../rebase/rebase.ts';
import type { Damaged } from '../outbox/repairs.ts';
import { dropStaged } from '../state/rows.ts';
import type { Step } from '../state/step.ts';

/** In order of priority. What only others held goes at once. @throws Suspended */
export function wantSets(
  { input, state, host }: Damaged,
  wanted: readonly { readonly id: string; readonly query: string }[],
): Step<ReplicaState> {
  const known = new Map(state.sets.map((set) => [set.id, set]));
  const sets = wanted.map(({ id, query }): ReplicaSet => {
    const before = known.get(id);
    return before?.query === query ? before : { ...NEW_SET, id, query };
  });
  const kept = sets.flatMap(({ parts }) => parts ?? []);
  const dropped = state.sets
    .filter((set) => !sets.includes(set))
    .flatMap(({ parts }) => parts ?? []);
  const touched = new Touched();
  dropParts(input.writer, dropped, kept, touched);
  // Parts of a pull that wait for the last one are of the sets before.
  dropStaged(input.writer, state);
  const chosen = { ...state, sets, staged: undefined };
  if (touched.rows.size === 0) return { value: chosen, next: chosen };
  const { state: next, announced } = rebasePending(chosen, touched, input, host);
  return { value: next, next, announced };
}

const NEW_SET: Omit<ReplicaSet, 'id' | 'query'> = {
  parts: undefined,
  loaded: 'nothing',
  rows: 0,
  of: undefined,
  error: undefined,
};
