/**
 * Executes queries while no transaction of the store is open, so that queries that take long do not block others. Each transaction only
 * fetches what the previous execution needed.
 */
import type { ReadSet } from '../../store/execution-reads.ts';
import { HOT_SPACES, type Store } from '../../store/port.ts';
import type { StoreNeed } from '../../store/snapshot-reader.ts';
import {
  executeAt,
  executeGroup,
  type CommitGroup,
  type GroupTime,
  type Job,
  type Outcome,
  type TransactionBody,
} from './execution.ts';
import type { HeadTracker, Snapshot } from './head-tracker.ts';
import type { HostAnswers } from './host-answers.ts';
import { isValid, unreadBy } from './validation.ts';

const HOT = { spaces: HOT_SPACES };

/** After so many fetches that met a new commit, and had to fetch the changed data again, the query is executed inside a transaction. */
const MOVES_MAX = 8;

interface Needed {
  /** Reads that are missing, and reads that are needed to validate the result. */
  readonly needs: readonly StoreNeed[];
  readonly readSets: readonly ReadSet[];
  /** Called after the needs were fetched at the same head. */
  readonly isValid: (snapshot: Snapshot) => boolean;
}

/** Detached execution of reads and of groups of writes. Undefined when other engines commit too often. */
export const detachedExecutions = {
  read: (
    store: Store,
    heads: HeadTracker,
    body: TransactionBody<unknown>,
    answers: HostAnswers,
  ): Promise<Outcome | undefined> =>
    executeDetached(
      store,
      heads,
      (snapshot) => executeAt(snapshot, body, answers),
      (outcome) => ({
        needs: unreadBy(outcome),
        readSets: [outcome.readSet],
        isValid: ({ reader }) => isValid(outcome, reader),
      }),
    ),
  group: (
    store: Store,
    heads: HeadTracker,
    jobs: readonly Job[],
    begin: () => GroupTime,
  ): Promise<CommitGroup | undefined> =>
    executeDetached(
      store,
      heads,
      ({ reader, head }) => executeGroup(jobs, reader, head, begin()),
      ({ needs, assumedAbsent, members }) => ({
        needs: [...needs, ...assumedAbsent],
        readSets: members.map(({ outcome }) => outcome.readSet),
        isValid: ({ reader }) => needs.length === 0 && reader.isAbsent(assumedAbsent),
      }),
    ),
};

/** An option of engines, so that bundles without long queries do not contain the code. */
export interface DetachedOption {
  /** Set if this engine's queries take long: as far as possible, no transaction of the store is open while a query is evaluated. */
  readonly detached?: typeof detachedExecutions;
}

/**
 * The result of an execution over a snapshot that is not older than this call. Undefined when other engines commit too often.
 * @param neededBy returns what the result still lacks
 */
async function executeDetached<T>(
  store: Store,
  heads: HeadTracker,
  executeAt: (snapshot: Snapshot) => T | Promise<T>,
  neededBy: (result: T) => Needed,
): Promise<T | undefined> {
  let snapshot = await store.read((tx) => heads.enter(tx, []), HOT);
  for (let moves = 0; moves < MOVES_MAX;) {
    const result = await executeAt(snapshot);
    const { needs, readSets, isValid } = neededBy(result);
    if (needs.length === 0) return result;
    const before = snapshot;
    snapshot = await store.read(async (tx) => {
      const entered = await heads.enter(tx, []);
      const next = entered.head === before.head ? before : entered;
      await next.reader.fetch(tx, needs, readSets);
      return next;
    }, HOT);
    if (snapshot !== before) moves += 1;
    else if (isValid(snapshot)) return result;
  }
  return undefined;
}
