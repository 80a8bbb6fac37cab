/**
 * Runs attempts as transactions of a store: fetches what they need, runs them again, commits what they wrote. Waiting
 * writes share a commit. See docs/decisions/0001-run-again.md.
 */
import { assert, Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import { FactCache, changesOf, type Changes } from '../../store/facts.ts';
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
import { planOf, Run, type FetchPlan, type StoreNeed } from '../../store/run.ts';
import type { Micros } from '../../values/value.ts';
import type { CommitNotice, EngineOptions, ReadSet } from '../context/host.ts';
import { evaluateGroup, hostNeeds, storeNeeds, tryAttempt, valueOf } from './execution.ts';
import type { Attempt, AttemptInput, Group, Job, Outcome, WriteLimits } from './execution.ts';
import { HostAnswers } from './host-answers.ts';
import { HostWork } from './host-work.ts';
import { changeRows } from './change-log.ts';
import { HEAD, commitsSince, headRow, readHead, type Head } from './head.ts';

export interface Transacted<T> {
  readonly value: T;
  /** Commit time, when something was written. */
  readonly committed: Micros | undefined;
  readonly readSet: ReadSet;
  /** Times another commit came between. */
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
  private readonly cache = new FactCache(LIMITS.cacheBytes);
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

  async read<T>(attempt: Attempt<T>): Promise<Transacted<T>> {
    const answers = new HostAnswers(this.work);
    for (;;) {
      const outcome = await this.readOnce(attempt, answers);
      const needs = hostNeeds(outcome);
      if (needs.length === 0) {
        const { readSet } = outcome;
        return { value: valueOf(outcome) as T, committed: undefined, readSet, retries: 0 };
      }
      await answers.settle(needs);
    }
  }

  /** Settles when the commit is durable, or at once when nothing was written. */
  write<T>(attempt: Attempt<T>, { retriesMax }: WriteLimits = {}): Promise<Transacted<T>> {
    return new Promise((resolve, reject) => {
      this.enqueue({
        attempt,
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

  private async readOnce(attempt: Attempt<unknown>, answers: HostAnswers): Promise<Outcome> {
    const known = this.cache.head;
    const guess = new Run(this.cache, known);
    const guessed =
      known === undefined ? undefined : tryAttempt(attempt, inputOf(guess, known, answers), guess);
    if (guessed && lacks(guessed).length === 0 && this.isLeaseHeld()) return guessed;
    return this.store.read(async (tx) => {
      const { head, run } = await this.enter(tx, guessed ? lacks(guessed) : []);
      if (guessed && head === known && holds(guessed, run)) return guessed;
      for (;;) {
        const outcome = tryAttempt(attempt, inputOf(run, head, answers), run);
        const needs = lacks(outcome);
        if (needs.length > 0) await run.fetch(tx, needs, [outcome.readSet]);
        if (holds(outcome, run)) return outcome;
      }
    }, HOT);
  }

  /** First fetch of a transaction: what is needed so far, and which commit the snapshot shows. */
  private async enter(
    tx: ReadTx,
    needs: readonly StoreNeed[],
  ): Promise<{ head: Micros; run: Run }> {
    const plan = planOf(needs);
    const trusted = this.trustedHead();
    if (trusted !== undefined) {
      const found = await tx.fetch(plan.rows, plan.ranges, LIMITS.fetchBytes);
      // Still alone: nobody can have committed before this snapshot was taken.
      if (this.isLeaseHeld()) {
        const run = new Run(this.cache, trusted);
        run.keep(plan, found);
        return { head: trusted, run };
      }
    }
    const asked = { ...plan, rows: [HEAD, ...plan.rows] };
    const found = await tx.fetch(asked.rows, asked.ranges, LIMITS.fetchBytes);
    const head = this.moveTo(found.rows[0]);
    const run = new Run(this.cache, head);
    run.keep(asked, found);
    return { head, run };
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
        // Whether it arrived is not known: neither is what the store holds now, also to a tab that is alone.
        this.cache.forget(undefined);
        await this.commitOneByOne(jobs, reason);
      }
    }
    this.isPumping = false;
  }

  /**
   * A group for which there is no room tells nothing about its members: each is tried alone. After any other failure nobody may
   * try again: a commit whose answer was lost may have arrived.
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
    const guess =
      known === undefined ? undefined : evaluateGroup(jobs, new Run(this.cache, known), known);
    if (guess && isSettled(guess) && !guess.writes && this.isLeaseHeld()) {
      this.finish(guess, 0);
      return;
    }
    // Beside other tabs, the head has often moved: then it is better to look before writing.
    const isBold = guess?.needs.length === 0 && guess.writes && this.isLeaseHeld();
    const bold = await this.transact((tx) =>
      isBold ? this.commitGuess(tx, guess) : this.evaluateIn(tx, jobs, guess),
    );
    if (bold) this.finish(bold, 0);
    // With the transaction's lock held, and presuming nothing, it cannot be overtaken again.
    else {
      // What was presumed in vain, with nobody coming between, is no retry that anybody asked not to make.
      const isOvertaken = this.cache.head !== known;
      const patient = jobs.filter((job) => !isOvertaken || job.retriesMax !== 0);
      for (const job of jobs) if (!patient.includes(job)) job.fail(contended());
      if (patient.length === 0) return;
      const careful = await this.transact((tx) => this.evaluateIn(tx, patient, undefined));
      assert(careful, () => 'a write that presumes nothing is not made in vain');
      this.finish(careful, 1);
    }
  }

  /** Undefined when the body found that what it had begun to write was made in vain. */
  private async transact(body: (tx: WriteTx) => Promise<Group>): Promise<Group | undefined> {
    let isVain = false;
    const watched = async (tx: WriteTx): Promise<Group> => {
      try {
        return await body(tx);
      } catch (reason) {
        isVain = reason instanceof InVain;
        throw reason;
      }
    };
    try {
      return await this.store.write(watched, { ...HOT, durability: this.durability });
    } catch (reason) {
      if (isVain || reason instanceof KeyTaken) return undefined;
      throw reason;
    }
  }

  /** Writes what was evaluated before the transaction began, while it is asked whether that still holds. */
  private async commitGuess(tx: WriteTx, guess: Group): Promise<Group> {
    // A row that is put as new need not be asked for: the store refuses it if it is there.
    const added = newRows(guess);
    const asksFor = (need: StoreNeed) => need.kind === 'range' || !added.has(nameOf(need.address));
    const presumed = guess.presumed.filter(asksFor);
    if (presumed.length === 0 && this.lease?.isForGood === true && this.isLeaseHeld()) {
      this.apply(tx, guess, added);
      return guess;
    }
    const plan = planOf(presumed);
    const asked = tx.fetch([...plan.rows, HEAD], plan.ranges);
    this.apply(tx, guess, added);
    const found = await asked;
    const head = this.moveTo(found.rows.at(-1));
    if (head === guess.head && isNothing(plan, found)) return guess;
    if (head === guess.head) guess.run.keep(plan, found);
    throw new InVain();
  }

  private async evaluateIn(
    tx: WriteTx,
    jobs: readonly Job[],
    guess: Group | undefined,
  ): Promise<Group> {
    const needs = guess ? [...guess.needs, ...guess.presumed, ...rowsRead(guess)] : [];
    const { head, run } = await this.enter(tx, needs);
    if (guess && head === guess.head && guess.needs.length === 0 && run.isAbsent(guess.presumed)) {
      this.apply(tx, guess);
      return guess;
    }
    for (;;) {
      const group = evaluateGroup(jobs, run, head);
      const lacking = [...group.needs, ...group.presumed];
      if (lacking.length > 0) await run.fetch(tx, lacking, readSetsOf(group));
      if (group.needs.length > 0 || !run.isAbsent(group.presumed)) continue;
      this.apply(tx, group);
      return group;
    }
  }

  /** @param added names of rows that may not be there yet */
  private apply(tx: WriteTx, group: Group, added: ReadonlySet<string> = NO_NAMES): void {
    if (!group.writes) return;
    const before = (address: RowAddress) => group.run.peek(address);
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
  private finish(group: Group, retries: number): void {
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

  /** In turns of their own: what a listener throws must not look like a commit that failed, and be committed again. */
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

/** Another commit came first, or what was presumed absent is there. */
class InVain extends Error {}

const inputOf = (run: Run, head: Micros, answers: HostAnswers): AttemptInput => ({
  writer: new Overlay(run),
  head,
  answers,
  bounded: (query) => run.bounded(query),
});

/** What the store must be asked before the outcome can be believed. */
const lacks = (outcome: Outcome): readonly StoreNeed[] => [
  ...storeNeeds(outcome),
  ...outcome.presumed,
];

/** Then nobody remembers it: the commit puts there what was absent. */
const isNothing = ({ rows, ranges, later }: FetchPlan, found: Found): boolean =>
  later.length === 0 &&
  rows.every((_address, i) => found.rows[i] === undefined) &&
  ranges.every((_range, i) => found.ranges[i]?.length === 0);

/** Settled, or waiting for the host only; and nothing it presumed was wrong. */
const holds = (outcome: Outcome, run: Run): boolean =>
  storeNeeds(outcome).length === 0 && run.isAbsent(outcome.presumed);

const NO_NAMES: ReadonlySet<string> = new Set();

const nameOf = ({ space, key }: RowAddress): string => `${space} ${key}`;

/** Names of rows that a group presumed absent and puts. */
function newRows({ presumed, writes }: Group): ReadonlySet<string> {
  const put = new Set<string>();
  for (const { space, row } of writes?.puts ?? []) put.add(nameOf({ space, key: row.key }));
  const added = new Set<string>();
  for (const need of presumed) {
    const name = need.kind === 'row' ? nameOf(need.address) : '';
    if (put.has(name)) added.add(name);
  }
  return added;
}

/** A query that reads more rows than this is not asked for all of them anew. */
const ROWS_READ_AGAIN_MAX = 16;

/** What the guess read, lest it must be fetched in a second round when another commit has come between. */
function rowsRead({ members }: Group): readonly StoreNeed[] {
  const rows = members.flatMap(({ outcome }) => outcome.readSet.rows);
  if (rows.length > ROWS_READ_AGAIN_MAX) return [];
  return rows.map((address) => ({ kind: 'row', address }));
}

const readSetsOf = ({ members }: Group) => members.map(({ outcome }) => outcome.readSet);

const isSettled = ({ needs, presumed }: Group): boolean =>
  needs.length === 0 && presumed.length === 0;

function noticeOf(changes: Changes, members: Group['members']): CommitNotice {
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
