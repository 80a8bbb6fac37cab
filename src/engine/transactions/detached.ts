/**
 * Executions while no transaction of the store is open: for queries that take long, and would hold up all others meanwhile. Each
 * transaction only fetches what the execution before it needed.
 */
import { HOT_SPACES, type Store } from '../../store/port.ts';
import type { StoreNeed } from '../../store/snapshot-reader.ts';
import type { ReadSet } from '../context/host.ts';
import {
  executeAt,
  executeGroup,
  type CommitGroup,
  type Job,
  type Outcome,
  type TransactionBody,
} from './execution.ts';
import type { HeadTracker, Snapshot } from './head-tracker.ts';
import type { HostAnswers } from './host-answers.ts';
import { isValid, unreadBy } from './validation.ts';

const HOT = { spaces: HOT_SPACES };

/** Other commits may come between so many fetches: what they changed is fetched again. Then it is executed in a transaction. */
const MOVES_MAX = 8;

interface Needed {
  /** Without them there is no result; also those that are to be known before it is valid. */
  readonly needs: readonly StoreNeed[];
  readonly readSets: readonly ReadSet[];
  /** Asked after the needs were fetched at the same head. */
  readonly isValid: (snapshot: Snapshot) => boolean;
}

/** Of reads and of groups of writes. Undefined when others commit all the time. */
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
    begin: () => () => boolean,
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

/** Of engines: few need it, so it is given to them. */
export interface DetachedOption {
  /** Queries take long here: no transaction of the store is open while one is evaluated, as far as that is possible. */
  readonly detached?: typeof detachedExecutions;
}

/**
 * The result of an execution over a snapshot that is not older than this call; undefined when others commit all the time.
 * @param neededBy what it lacks
 */
async function executeDetached<T>(
  store: Store,
  heads: HeadTracker,
  executeAt: (snapshot: Snapshot) => T,
  neededBy: (result: T) => Needed,
): Promise<T | undefined> {
  let snapshot = await store.read((tx) => heads.enter(tx, []), HOT);
  for (let moves = 0; moves < MOVES_MAX;) {
    const result = executeAt(snapshot);
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
