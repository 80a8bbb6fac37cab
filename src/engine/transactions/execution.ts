/**
 * Executes transaction bodies synchronously over one snapshot: one alone, or several of a group, each over the writes of those before it.
 */
import { assert } from '../../errors.ts';
import type { ReadSet } from '../../store/execution-reads.ts';
import { Overlay } from '../../store/overlay.ts';
import type { WriteSet } from '../../store/port.ts';
import { Suspended, type Need, type Writer } from '../../store/reader.ts';
import type { SnapshotReader, StoreNeed } from '../../store/snapshot-reader.ts';
import type { Micros } from '../../values/value.ts';
import type { CommitNotice, InLine } from '../context/host.ts';
import type { HostAnswers, HostNeed } from './host-answers.ts';

/** The input of a body. A body may be executed several times, so it must depend on nothing else. */
export interface BodyInput {
  /** Only for reading, when the body is run by `Transactor.read`. */
  readonly writer: Writer;
  /** The time of the last commit before this execution. */
  readonly head: Micros;
  readonly answers: HostAnswers;
  /**
   * Runs a query with a limit on what it reads. Background jobs do not use it: they limit their own steps.
   * @throws Refusal `limit_exceeded`, and what the query throws
   */
  readonly bounded: <T>(query: () => T) => T;
}
export type Announced = Pick<CommitNotice, 'rows' | 'entries'>;

export interface BodyResult<T> {
  readonly value: T;
  /** Commit time of the writes, later than `head`. Undefined: the writes are discarded. */
  readonly ts?: Micros | undefined;
  /** Changes that readers see although no such row was written: a copy shows more than it stores. */
  readonly announced?: Announced;
}
/** A transaction body. It throws `Suspended` with the reads that it needs. If it throws anything else, its writes are discarded. */
export type TransactionBody<T> = (input: BodyInput) => BodyResult<T>;

/**
 * The outcome of one execution. `failed` carries what the body threw: a refusal, or a bug. An outcome is valid only if everything in
 * `assumedAbsent` is absent.
 */
export type Outcome = {
  /** The time of the last commit that the body was executed over. */
  readonly head: Micros;
  readonly assumedAbsent: readonly StoreNeed[];
  readonly readSet: ReadSet;
} & (
  | ({ readonly state: 'done' } & BodyResult<unknown>)
  | { readonly state: 'failed'; readonly reason: unknown }
  | { readonly state: 'suspended'; readonly needs: readonly Need[] }
);

function execute(
  body: TransactionBody<unknown>,
  { writer, head, answers }: Omit<BodyInput, 'bounded'>,
  snapshot: SnapshotReader,
): Outcome {
  snapshot.begin();
  const bounded: BodyInput['bounded'] = (query) => snapshot.bounded(query);
  const observed = () => ({
    head,
    assumedAbsent: snapshot.assumedAbsent,
    readSet: snapshot.readSet(),
  });
  try {
    const result = body({ writer, head, answers, bounded });
    return { state: 'done', ...result, ...observed() };
  } catch (thrown) {
    if (thrown instanceof Suspended)
      return { state: 'suspended', needs: thrown.needs, ...observed() };
    return { state: 'failed', reason: thrown, ...observed() };
  }
}

/** Executes one body alone, over the cached part of a snapshot. */
export function executeAt(
  { head, reader }: { readonly head: Micros; readonly reader: SnapshotReader },
  body: TransactionBody<unknown>,
  answers: HostAnswers,
): Outcome {
  return execute(body, { writer: new Overlay(reader), head, answers }, reader);
}

/** The missing reads of an outcome. Without them there is no result. */
export const storeNeeds = (outcome: Outcome): readonly StoreNeed[] =>
  outcome.state === 'suspended' ? outcome.needs.filter(isStoreNeed) : [];

const isStoreNeed = (need: Need): need is StoreNeed => need.kind === 'row' || need.kind === 'range';

export const hostNeeds = (outcome: Outcome): readonly HostNeed[] =>
  outcome.state === 'suspended'
    ? outcome.needs.filter((need): need is HostNeed => !isStoreNeed(need))
    : [];

/** @throws what the body threw */
export function valueOf(outcome: Outcome): unknown {
  if (outcome.state === 'done') return outcome.value;
  throw outcome.state === 'failed' ? outcome.reason : new Suspended(outcome.needs);
}

export interface WriteLimits extends InLine {
  /** How often the write may be executed again because another commit intervened. Undefined: no limit. */
  readonly retriesMax?: number | undefined;
}

/** A write that waits in the commit queue. */
export interface Job extends WriteLimits {
  readonly body: TransactionBody<unknown>;
  readonly answers: HostAnswers;
  readonly settle: (outcome: Outcome, committed: Micros | undefined, retries: number) => void;
  readonly fail: (reason: unknown) => void;
}

/** The result of executing jobs one over the other, to share a commit. */
export interface CommitGroup {
  readonly members: readonly {
    readonly job: Job;
    readonly outcome: Outcome;
    readonly committed: Micros | undefined;
  }[];
  /** Jobs that were not executed because the group is large enough. They wait for the next commit. */
  readonly rest: readonly Job[];
  /** Reads of the store that members miss. Members that wait only for the host wrote nothing and delay no other member. */
  readonly needs: readonly StoreNeed[];
  readonly assumedAbsent: readonly StoreNeed[];
  readonly writes: WriteSet | undefined;
  readonly snapshot: SnapshotReader;
  readonly head: Micros;
  readonly ts: Micros;
}

const GROUP_BYTES_MAX = 4 * 1024 * 1024;

/** Limits for how long a group is executed. */
export interface GroupTime {
  /** Called after each job. When it returns true, the remaining jobs wait for the next commit. */
  readonly isOver: () => boolean;
  /** Called before each job: lets other work of the thread go on. Undefined: it is not yet time for that. */
  readonly pause?: () => Promise<void> | undefined;
}

export async function executeGroup(
  jobs: readonly Job[],
  snapshot: SnapshotReader,
  head: Micros,
  { isOver, pause }: GroupTime,
): Promise<CommitGroup> {
  const shared = new Overlay(snapshot);
  const isSingle = jobs.length === 1;
  const needs: StoreNeed[] = [];
  const assumedAbsent: StoreNeed[] = [];
  const members: CommitGroup['members'][number][] = [];
  let ts = head;
  snapshot.beginGroup();
  for (const job of jobs) {
    const paused = pause?.();
    if (paused) await paused;
    const own = isSingle ? shared : new Overlay(shared);
    const outcome = execute(job.body, { writer: own, head: ts, answers: job.answers }, snapshot);
    addTo(needs, storeNeeds(outcome));
    addTo(assumedAbsent, outcome.assumedAbsent);
    const committed = outcome.state === 'done' && !own.isEmpty ? outcome.ts : undefined;
    members.push({ job, outcome, committed });
    if (committed !== undefined) {
      const last = ts;
      assert(
        committed > last,
        () => `a commit at ${committed} does not follow the last one at ${last}`,
      );
      ts = committed;
      if (!isSingle) shared.absorb(own.writes());
    } else if (isSingle) shared.clear();
    if (shared.bytes > GROUP_BYTES_MAX || snapshot.isFull || isOver()) break;
  }
  const rest = jobs.slice(members.length);
  const writes = shared.isEmpty ? undefined : shared.writes();
  return { members, rest, needs, assumedAbsent, writes, snapshot, head, ts };
}

/** Not `push(...more)`: there may be more needs than a call can take arguments. */
function addTo(list: StoreNeed[], more: readonly StoreNeed[]): void {
  for (const need of more) list.push(need);
}
