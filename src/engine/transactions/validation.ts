/** What an optimistic execution relied on, and what the committing transaction must read to validate it. */
import { Refusal } from '../../errors.ts';
import { RowMap } from '../../store/row-map.ts';
import type { Found } from '../../store/port.ts';
import type { FetchPlan, SnapshotReader, StoreNeed } from '../../store/snapshot-reader.ts';
import { storeNeeds, type CommitGroup, type Outcome } from './execution.ts';

/** Another engine committed first, or a row exists that was assumed absent. */
export class ValidationFailed extends Error {}

export const contended = (): Refusal =>
  new Refusal(
    'contended transaction',
    'Another transaction committed first, and the request allows no retry.',
  );

/** What must be read from the store before the outcome can be valid. */
export const unreadBy = (outcome: Outcome): readonly StoreNeed[] => [
  ...storeNeeds(outcome),
  ...outcome.assumedAbsent,
];

/** Whether the outcome needs no more reads (it may still wait for the host) and everything assumed absent is absent. */
export const isValid = (outcome: Outcome, snapshot: SnapshotReader): boolean =>
  storeNeeds(outcome).length === 0 && snapshot.isAbsent(outcome.assumedAbsent);

/** Whether everything in the plan is absent. The result is not added to the cache: the commit updates those entries itself. */
export const isNothing = ({ rows, ranges, later }: FetchPlan, found: Found): boolean =>
  later.length === 0 &&
  rows.every((_address, i) => found.rows[i] === undefined) &&
  ranges.every((_range, i) => found.ranges[i]?.length === 0);

/** Whether nothing is left to read or to validate. */
export const isSettled = ({ needs, assumedAbsent }: CommitGroup): boolean =>
  needs.length === 0 && assumedAbsent.length === 0;

/** The rows that a group assumed absent and that it puts. They need no read: the store rejects the commit if one of them exists. */
export function newRows({ assumedAbsent, writes }: CommitGroup): RowMap<true> {
  const put = new RowMap<true>();
  for (const { space, row } of writes?.puts ?? []) put.set({ space, key: row.key }, true);
  const added = new RowMap<true>();
  for (const need of assumedAbsent)
    if (need.kind === 'row' && put.has(need.address)) added.set(need.address, true);
  return added;
}

/** If a group read more rows than this, its transaction does not fetch them again. */
const ROWS_READ_AGAIN_MAX = 16;

/**
 * What a transaction fetches first: missing reads, assumptions, and the rows that were read, so that no second round trip is needed if
 * another commit intervened.
 */
export function needsOf({ needs, assumedAbsent, members }: CommitGroup): readonly StoreNeed[] {
  const rows = members.flatMap(({ outcome }) => outcome.readSet.rows);
  const again = rows.length > ROWS_READ_AGAIN_MAX ? [] : rows;
  const read = again.map((address): StoreNeed => ({ kind: 'row', address }));
  return [...needs, ...assumedAbsent, ...read];
}
