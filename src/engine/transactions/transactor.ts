/**
 * Executes bodies as transactions of a store: fetches what they need, executes them again, commits what they wrote. Waiting
 * writes share a commit. See docs/decisions/0001-run-again.md.
 */
import { assert, Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import { SnapshotCache, changesOf, type Changes } from '../../store/snapshot-cache.ts';
import { Overlay } from '../../store/overlay.ts';
import { HOT_SPACES, KeyTaken } from '../../store/port.ts';
import type {
  Durability,
  Found,
  ReadTx,
  Row,
  RowAddress,
  Store,
  WriteTx,
} from '../../store/port.ts';
import {
  planOf,
  SnapshotReader,
  type FetchPlan,
  type StoreNeed,
} from '../../store/snapshot-reader.ts';
import type { Micros } from '../../values/value.ts';
import type { CommitNotice, EngineOptions, ReadSet } from '../context/host.ts';
import { executeGroup, hostNeeds, storeNeeds, execute, valueOf } from './execution.ts';
import type {
  TransactionBody,
  BodyInput,
  CommitGroup,
  Job,
  Outcome,
  WriteLimits,
} from './execution.ts';
import { HostAnswers } from './host-answers.ts';
import { HostWork } from './host-work.ts';
import { changeRows } from './change-log.ts';
import { HEAD, commitsSince, headRow, readHead, type Head } from './head.ts';

export interface Transacted<T> {
  readonly value: T;
  /** Commit time, when something was written. */
  readonly committed: Micros | undefined;
  readonly readSet: ReadSet;
  /** How often another commit intervened. */
  readonly retries: number;
}

interface InFlight {
  readonly changes: Changes;
  readonly head: Row;
  /** Rows of the log of changes. */
  readonly logged: readonly Row[] | undefined;
}

const NOTHING_IN_FLIGHT = { changes: undefined, logged: undefined };

const HOT = { spaces: HOT_SPACES };

const GROUP_JOBS_MAX = 256;

type TransactorOptions = ConstructorParameters<typeof HostWork>[0] &
  Pick<EngineOptions, 'durability' | 'lease' | 'random' | 'logsChanges'>;

export class Transactor {
  private readonly lease: EngineOptions['lease'];
  private readonly work: HostWork;
  private readonly store: Store;
  private readonly durability: Durability;
  private readonly logsChanges: boolean;
  private readonly cache = new SnapshotCache(LIMITS.cacheBytes);
  private readonly queue: Job[] = [];
  private isPumping = false;
  /** Tells commits of this engine from those of others at the same time. */
  private readonly signature: string;
  private commits = 0;
  private inFlight: InFlight | undefined = undefined;
  /** The head as last seen in a transaction. */
  private seen: { readonly row: Row | undefined; readonly head: Head } | undefined = undefined;
  private readonly listeners = new Set<(notice: CommitNotice) => void>();

  constructor(options: TransactorOptions) {
    this.signature = options.random(6).join('.');
    this.lease = options.lease;
    this.work = new HostWork(options);
    this.store = options.store;
    this.durability = options.durability;
    this.logsChanges = options.logsChanges ?? false;
  }

  onCommit(listener: (notice: CommitNotice) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  noteCommit({ previous, ts, rows, entries }: CommitNotice): void {
    const changed = rows.map((each) => ({ ...each, row: 'unknown' as const }));
    this.cache.advance({ previous, ts, entries, rows: changed });
  }

  async read<T>(body: TransactionBody<T>): Promise<Transacted<T>> {
    const answers = new HostAnswers(this.work);
    for (;;) {
      const outcome = await this.readOnce(body, answers);
      const needs = hostNeeds(outcome);
      if (needs.length === 0) {
        const { readSet } = outcome;
        return { value: valueOf(outcome) as T, committed: undefined, readSet, retries: 0 };
      }
      await answers.settle(needs);
    }
  }

  /** Settles when the commit is durable, or at once when nothing was written. */
  write<T>(body: TransactionBody<T>, { retriesMax }: WriteLimits = {}): Promise<Transacted<T>> {
    return new Promise((resolve, reject) => {
      this.enqueue({
        body,
        retriesMax,
        answers: new HostAnswers(this.work),
        settle: (outcome, committed, retries) => {
          try {
            const { readSet } = outcome;
            resolve({ value: valueOf(outcome) as T, committed, readSet, retries });
          } catch (reason) {
            reject(reason);
          }
        },
        fail: reject,
      });
    });
  }

  private async readOnce(body: TransactionBody<unknown>, answers: HostAnswers): Promise<Outcome> {
    const known = this.cache.head;
    const reader = new SnapshotReader(this.cache, known);
    const optimistic =
      known === undefined ? undefined : execute(body, inputOf(reader, known, answers), reader);
    if (optimistic && lacks(optimistic).length === 0 && this.isLeaseHeld()) return optimistic;
    return this.store.read(async (tx) => {
      const { head, snapshot } = await this.enter(tx, optimistic ? lacks(optimistic) : []);
      if (optimistic && head === known && holds(optimistic, snapshot)) return optimistic;
      for (;;) {
        const outcome = execute(body, inputOf(snapshot, head, answers), snapshot);
        const needs = lacks(outcome);
        if (needs.length > 0) await snapshot.fetch(tx, needs, [outcome.readSet]);
        if (holds(outcome, snapshot)) return outcome;
      }
    }, HOT);
  }

  /** First fetch of a transaction: what is needed so far, and which commit the snapshot shows. */
  private async enter(
    tx: ReadTx,
    needs: readonly StoreNeed[],
  ): Promise<{ head: Micros; snapshot: SnapshotReader }> {
    const plan = planOf(needs);
    const trusted = this.trustedHead();
    if (trusted !== undefined) {
      const found = await tx.fetch(plan.rows, plan.ranges, LIMITS.fetchBytes);
      // Still alone: nobody can have committed before this snapshot was taken.
      if (this.isLeaseHeld()) {
        const snapshot = new SnapshotReader(this.cache, trusted);
        snapshot.keep(plan, found);
        return { head: trusted, snapshot };
      }
    }
    const asked = { ...plan, rows: [HEAD, ...plan.rows] };
    const found = await tx.fetch(asked.rows, asked.ranges, LIMITS.fetchBytes);
    const head = this.moveTo(found.rows[0]);
    const snapshot = new SnapshotReader(this.cache, head);
    snapshot.keep(asked, found);
    return { head, snapshot };
  }

  /** The head that a transaction begun now will see, when that is known without asking: alone, with no write under way. */
  private trustedHead(): Micros | undefined {
    return !this.isPumping && this.isLeaseHeld() ? this.cache.head : undefined;
  }

  /** The cache forgets what was changed by the commits it missed; all, when that cannot be told. */
  private moveTo(row: Row | undefined): Micros {
    const { cache, inFlight } = this;
    if (!this.seen || this.seen.row?.value !== row?.value) this.seen = { row, head: readHead(row) };
    const { head } = this.seen;
    if (head.ts === cache.head) return head.ts;
    const isOwn = inFlight !== undefined && inFlight.head.value === row?.value;
    const missed = isOwn
      ? [inFlight.changes]
      : cache.head === undefined
        ? undefined
        : commitsSince(cache.head, head);
    if (missed) for (const commit of missed) cache.advance(commit);
    else cache.forget(head.ts);
    return head.ts;
  }

  private isLeaseHeld(): boolean {
    return this.lease?.isHeld() ?? false;
  }

  private enqueue(job: Job): void {
    this.queue.push(job);
    if (!this.isPumping) void this.pump();
  }

  private async pump(): Promise<void> {
    this.isPumping = true;
    while (this.queue.length > 0) {
      const jobs = this.queue.splice(0, GROUP_JOBS_MAX);
      try {
        await this.commitGroup(jobs);
      } catch (reason) {
        // Whether the commit arrived is unknown, and so is what the store holds now, even for a tab that is alone.
        this.cache.forget(undefined);
        await this.commitOneByOne(jobs, reason);
      }
    }
    this.isPumping = false;
  }

  /**
   * If a group exceeds the quota, its members may still fit: each is tried alone. After any other failure nothing is retried:
   * a commit whose answer was lost may have arrived.
   */
  private async commitOneByOne(jobs: readonly Job[], reason: unknown): Promise<void> {
    const isTooLarge = reason instanceof Refusal && reason.code === 'quota_exceeded';
    if (jobs.length === 1 || !isTooLarge) {
      for (const job of jobs) job.fail(reason);
      return;
    }
    for (const job of jobs) {
      try {
        await this.commitGroup([job]);
      } catch (own) {
        job.fail(own);
      }
    }
  }

  private async commitGroup(jobs: readonly Job[]): Promise<void> {
    const known = this.cache.head;
    const optimistic =
      known === undefined
        ? undefined
        : executeGroup(jobs, new SnapshotReader(this.cache, known), known);
    if (optimistic && isSettled(optimistic) && !optimistic.writes && this.isLeaseHeld()) {
      this.finish(optimistic, 0);
      return;
    }
    // Beside other tabs, the head has often moved: then it is better to look before writing.
    const isOptimistic = optimistic?.needs.length === 0 && optimistic.writes && this.isLeaseHeld();
    const committed = await this.transact((tx) =>
      isOptimistic
        ? this.commitOptimistically(tx, optimistic)
        : this.executeIn(tx, jobs, optimistic),
    );
    if (committed) this.finish(committed, 0);
    // With the transaction's lock held and nothing assumed, validation cannot fail again.
    else {
      // If an assumption was wrong and no other commit intervened, it does not count as a retry.
      const isOvertaken = this.cache.head !== known;
      const patient = jobs.filter((job) => !isOvertaken || job.retriesMax !== 0);
      for (const job of jobs) if (!patient.includes(job)) job.fail(contended());
      if (patient.length === 0) return;
      const pessimistic = await this.transact((tx) => this.executeIn(tx, patient, undefined));
      assert(pessimistic, () => 'validation failed for a write that assumed nothing');
      this.finish(pessimistic, 1);
    }
  }

  /** Undefined when validation failed. */
  private async transact(
    body: (tx: WriteTx) => Promise<CommitGroup>,
  ): Promise<CommitGroup | undefined> {
    let hasFailedValidation = false;
    const watched = async (tx: WriteTx): Promise<CommitGroup> => {
      try {
        return await body(tx);
      } catch (reason) {
        hasFailedValidation = reason instanceof ValidationFailed;
        throw reason;
      }
    };
    try {
      return await this.store.write(watched, { ...HOT, durability: this.durability });
    } catch (reason) {
      if (hasFailedValidation || reason instanceof KeyTaken) return undefined;
      throw reason;
    }
  }

  /** Writes what was executed before the transaction began, and validates it at the same time. */
  private async commitOptimistically(tx: WriteTx, optimistic: CommitGroup): Promise<CommitGroup> {
    // A row that is put as new need not be read: the store refuses it if it exists.
    const added = newRows(optimistic);
    const asksFor = (need: StoreNeed) => need.kind === 'range' || !added.has(nameOf(need.address));
    const assumedAbsent = optimistic.assumedAbsent.filter(asksFor);
    if (assumedAbsent.length === 0 && this.lease?.isForGood === true && this.isLeaseHeld()) {
      this.apply(tx, optimistic, added);
      return optimistic;
    }
    const plan = planOf(assumedAbsent);
    const asked = tx.fetch([...plan.rows, HEAD], plan.ranges);
    this.apply(tx, optimistic, added);
    const found = await asked;
    const head = this.moveTo(found.rows.at(-1));
    if (head === optimistic.head && isNothing(plan, found)) return optimistic;
    if (head === optimistic.head) optimistic.snapshot.keep(plan, found);
    throw new ValidationFailed();
  }

  private async executeIn(
    tx: WriteTx,
    jobs: readonly Job[],
    optimistic: CommitGroup | undefined,
  ): Promise<CommitGroup> {
    const needs = optimistic
      ? [...optimistic.needs, ...optimistic.assumedAbsent, ...rowsRead(optimistic)]
      : [];
    const { head, snapshot } = await this.enter(tx, needs);
    if (
      optimistic &&
      head === optimistic.head &&
      optimistic.needs.length === 0 &&
      snapshot.isAbsent(optimistic.assumedAbsent)
    ) {
      this.apply(tx, optimistic);
      return optimistic;
    }
    for (;;) {
      const group = executeGroup(jobs, snapshot, head);
      const lacking = [...group.needs, ...group.assumedAbsent];
      if (lacking.length > 0) await snapshot.fetch(tx, lacking, readSetsOf(group));
      if (group.needs.length > 0 || !snapshot.isAbsent(group.assumedAbsent)) continue;
      this.apply(tx, group);
      return group;
    }
  }

  /** @param added names of rows that may not be there yet */
  private apply(tx: WriteTx, group: CommitGroup, added: ReadonlySet<string> = NO_NAMES): void {
    if (!group.writes) return;
    const before = (address: RowAddress) => group.snapshot.peek(address);
    const changes = changesOf(group.writes, before, group.head, group.ts);
    const tail = this.isLeaseHeld() ? undefined : (this.seen?.head.tail ?? []);
    const head = headRow(changes, `${this.signature}/${++this.commits}`, tail);
    const puts = group.writes.puts.map((put) =>
      added.has(nameOf({ space: put.space, key: put.row.key })) ? { ...put, isNew: true } : put,
    );
    const logged = this.logsChanges ? changeRows(group.writes, before, group.ts) : undefined;
    if (logged) puts.push(...logged);
    puts.push({ space: HEAD.space, row: head });
    tx.apply({ puts, deletes: group.writes.deletes });
    this.inFlight = { changes, head, logged: logged?.map(({ row }) => row) };
  }

  /** The commit is durable: caches and listeners hear of it, callers get their answers. */
  private finish(group: CommitGroup, retries: number): void {
    const { changes, logged } = (group.writes && this.inFlight) || NOTHING_IN_FLIGHT;
    this.inFlight = undefined;
    if (changes) {
      this.cache.advance(changes);
      const notice = noticeOf(changes, group.members);
      this.tell(logged ? { ...notice, logged } : notice);
    }
    this.queue.unshift(...group.rest);
    for (const { job, outcome, committed } of group.members) {
      if (outcome.state === 'suspended') void this.answerFromHost(job, outcome);
      else job.settle(outcome, committed, retries);
    }
  }

  /** Each in a microtask of its own: an error of a listener must not look like a failed commit, which would be retried. */
  private tell(notice: CommitNotice): void {
    for (const listener of this.listeners) void Promise.resolve(notice).then(listener);
  }

  /** The host works outside the queue: other writes go on. */
  private async answerFromHost(job: Job, outcome: Outcome): Promise<void> {
    try {
      await job.answers.settle(hostNeeds(outcome));
      this.enqueue(job);
    } catch (reason) {
      job.fail(reason);
    }
  }
}

const contended = (): Refusal =>
  new Refusal(
    'contended transaction',
    'Another transaction committed first, and the request allows no retry.',
  );

/** Another commit came first, or a row that was assumed absent exists. */
class ValidationFailed extends Error {}

const inputOf = (snapshot: SnapshotReader, head: Micros, answers: HostAnswers): BodyInput => ({
  writer: new Overlay(snapshot),
  head,
  answers,
  bounded: (query) => snapshot.bounded(query),
});

/** What must be read from the store before the outcome is valid. */
const lacks = (outcome: Outcome): readonly StoreNeed[] => [
  ...storeNeeds(outcome),
  ...outcome.assumedAbsent,
];

/** Nothing of it is cached: the commit puts there what was absent. */
const isNothing = ({ rows, ranges, later }: FetchPlan, found: Found): boolean =>
  later.length === 0 &&
  rows.every((_address, i) => found.rows[i] === undefined) &&
  ranges.every((_range, i) => found.ranges[i]?.length === 0);

/** Settled, or waiting for the host only; and every assumption was right. */
const holds = (outcome: Outcome, snapshot: SnapshotReader): boolean =>
  storeNeeds(outcome).length === 0 && snapshot.isAbsent(outcome.assumedAbsent);

const NO_NAMES: ReadonlySet<string> = new Set();

const nameOf = ({ space, key }: RowAddress): string => `${space} ${key}`;

/** Names of rows that a group assumed absent and puts. */
function newRows({ assumedAbsent, writes }: CommitGroup): ReadonlySet<string> {
  const put = new Set<string>();
  for (const { space, row } of writes?.puts ?? []) put.add(nameOf({ space, key: row.key }));
  const added = new Set<string>();
  for (const need of assumedAbsent) {
    const name = need.kind === 'row' ? nameOf(need.address) : '';
    if (put.has(name)) added.add(name);
  }
  return added;
}

/** A query that reads more rows than this is not asked for all of them anew. */
const ROWS_READ_AGAIN_MAX = 16;

/** What the optimistic execution read: fetched at once, so that no second round trip is needed if another commit intervened. */
function rowsRead({ members }: CommitGroup): readonly StoreNeed[] {
  const rows = members.flatMap(({ outcome }) => outcome.readSet.rows);
  if (rows.length > ROWS_READ_AGAIN_MAX) return [];
  return rows.map((address) => ({ kind: 'row', address }));
}

const readSetsOf = ({ members }: CommitGroup) => members.map(({ outcome }) => outcome.readSet);

const isSettled = ({ needs, assumedAbsent }: CommitGroup): boolean =>
  needs.length === 0 && assumedAbsent.length === 0;

function noticeOf(changes: Changes, members: CommitGroup['members']): CommitNotice {
  const { previous, ts } = changes;
  const rows = changes.rows.map(({ space, key }) => ({ space, key }));
  const entries = [...changes.entries];
  for (const { outcome, committed } of members) {
    if (committed === undefined || outcome.state !== 'done' || !outcome.announced) continue;
    for (const each of outcome.announced.rows) rows.push(each);
    for (const each of outcome.announced.entries) entries.push(each);
  }
  return { previous, ts, rows, entries };
}
