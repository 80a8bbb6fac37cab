/** What an optimistic execution relied on, and what its transaction must read to validate that. */
import { Refusal } from '../../errors.ts';
import { RowMap } from '../../store/row-map.ts';
import type { Found } from '../../store/port.ts';
import type { FetchPlan, SnapshotReader, StoreNeed } from '../../store/snapshot-reader.ts';
import { storeNeeds, type CommitGroup, type Outcome } from './execution.ts';

/** Another commit came first, or a row that was assumed absent exists. */
export class ValidationFailed extends Error {}

export const contended = (): Refusal =>
  new Refusal(
    'contended transaction',
    'Another transaction committed first, and the request allows no retry.',
  );

/** What must be read from the store before the outcome is valid. */
export const unreadBy = (outcome: Outcome): readonly StoreNeed[] => [
  ...storeNeeds(outcome),
  ...outcome.assumedAbsent,
];

/** Settled, or waiting for the host only; and every assumption was right. */
export const isValid = (outcome: Outcome, snapshot: SnapshotReader): boolean =>
  storeNeeds(outcome).length === 0 && snapshot.isAbsent(outcome.assumedAbsent);

/** Nothing of it is cached: the commit puts there what was absent. */
export const isNothing = ({ rows, ranges, later }: FetchPlan, found: Found): boolean =>
  later.length === 0 &&
  rows.every((_address, i) => found.rows[i] === undefined) &&
  ranges.every((_range, i) => found.ranges[i]?.length === 0);

/** Nothing is left to read or to validate. */
export const isSettled = ({ needs, assumedAbsent }: CommitGroup): boolean =>
  needs.length === 0 && assumedAbsent.length === 0;

/** The rows that a group assumed absent and puts: the store refuses the commit if one exists, so they need no read. */
export function newRows({ assumedAbsent, writes }: CommitGroup): RowMap<true> {
  const put = new RowMap<true>();
  for (const { space, row } of writes?.puts ?? []) put.set({ space, key: row.key }, true);
  const added = new RowMap<true>();
  for (const need of assumedAbsent)
    if (need.kind === 'row' && put.has(need.address)) added.set(need.address, true);
  return added;
}

/** A group that reads more rows than this does not fetch all of them again. */
const ROWS_READ_AGAIN_MAX = 16;

/** All that a transaction fetches at first: then no second round trip is needed if another commit intervened. */
export function needsOf({ needs, assumedAbsent, members }: CommitGroup): readonly StoreNeed[] {
  const rows = members.flatMap(({ outcome }) => outcome.readSet.rows);
  const again = rows.length > ROWS_READ_AGAIN_MAX ? [] : rows;
  const read = again.map((address): StoreNeed => ({ kind: 'row', address }));
  return [...needs, ...assumedAbsent, ...read];
}
