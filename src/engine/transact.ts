/**
 * Runs attempts (synchronous evaluations) as transactions of a store: fetches what they need, runs them again, commits what they
 * wrote. Waiting writes share a commit. See docs/decisions/0001-run-again.md.
 */
import { metaKey } from '../codec/key.ts';
import { LIMITS } from '../limits.ts';
import { FactCache, Run, changesOf, planOf, type Changes, type StoreNeed } from '../store/facts.ts';
import { Overlay } from '../store/overlay.ts';
import type { Durability, ReadTx, Row, RowAddress, Store, WriteSet, WriteTx } from '../store/port.ts';
import { Suspended, type Need, type Writer } from '../store/reader.ts';
import type { Micros } from '../values/value.ts';
import type { CommitNotice, EngineOptions, ReadSet } from './api.ts';
import { HashAnswers, type HashNeed } from './hash-answers.ts';

/** What an attempt may use. The same attempt runs several times: it depends on nothing else. */
export interface AttemptInput {
  /** Reads only, when run by `read`. */
  readonly writer: Writer & { readonly bytes: number };
  /** Last commit before this attempt. */
  readonly head: Micros;
  readonly answers: HashAnswers;
}
export interface AttemptResult<T> {
  readonly value: T;
  /** Commit time of what it wrote: above `head`. */
  readonly ts: Micros;
  /** False: what it wrote is dropped. */
  readonly keep: boolean;
}
/** Throws `Suspended` for what it needs; anything else it throws drops what it wrote. */
export type Attempt<T> = (input: AttemptInput) => AttemptResult<T>;

export interface Transacted<T> {
  readonly value: T;
  /** Commit time, when something was written. */
  readonly committed: Micros | undefined;
  readonly readSet: ReadSet;
  /** Times another commit came between. */
  readonly retries: number;
}

interface Job {
  readonly attempt: Attempt<unknown>;
  readonly answers: HashAnswers;
  readonly settle: (outcome: Outcome, committed: Micros | undefined, readSet: ReadSet, retries: number) => void;
  readonly fail: (reason: unknown) => void;
}

/** How one attempt ended. `failed` carries what it threw: faults of the caller, or a refusal. */
type Outcome =
  | { readonly state: 'done'; readonly value: unknown; readonly ts: Micros; readonly keep: boolean }
  | { readonly state: 'failed'; readonly reason: unknown }
  | { readonly state: 'suspended'; readonly needs: readonly Need[] };

export const HEAD: RowAddress = { space: 'meta', key: metaKey('head') };

const GROUP_JOBS_MAX = 256;
const GROUP_BYTES_MAX = 4 * 1024 * 1024;

export class Transactor {
  private readonly store: Store;
  private readonly passwords: EngineOptions['passwords'];
  private readonly durability: Durability;
  private readonly lease: EngineOptions['lease'];
  private readonly hashCost: number;
  private readonly cache = new FactCache(LIMITS.cacheBytes);
  private readonly queue: Job[] = [];
  private isPumping = false;
  private inFlight: Changes | undefined = undefined;
  private readonly listeners = new Set<(notice: CommitNotice) => void>();

  constructor(options: Pick<EngineOptions, 'store' | 'passwords' | 'durability' | 'lease' | 'hashCost'>) {
    this.store = options.store;
    this.passwords = options.passwords;
    this.durability = options.durability;
    this.lease = options.lease;
    this.hashCost = options.hashCost;
  }

  onCommit(listener: (notice: CommitNotice) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  noteCommit({ previous, ts, rows, entries }: CommitNotice): void {
    this.cache.advance({ previous, ts, entries, rows: rows.map((each) => ({ ...each, row: 'unknown' as const })) });
  }

  async read<T>(attempt: Attempt<T>): Promise<Transacted<T>> {
    const answers = new HashAnswers();
    for (;;) {
      const result = await this.readOnce(attempt, answers);
      if (result.outcome.state !== 'suspended') {
        return { value: valueOf<T>(result.outcome), committed: undefined, readSet: result.run.readSet(), retries: 0 };
      }
      await answers.settle(hashNeeds(result.outcome.needs), this.passwords, this.hashCost);
    }
  }

  /** Settles when the commit is durable, or at once when nothing was written. */
  write<T>(attempt: Attempt<T>): Promise<Transacted<T>> {
    return new Promise((resolve, reject) => {
      this.enqueue({
        attempt,
        answers: new HashAnswers(),
        settle: (outcome, committed, readSet, retries) => {
          try {
            resolve({ value: valueOf<T>(outcome), committed, readSet, retries });
          } catch (reason) {
            reject(reason);
          }
        },
        fail: reject,
      });
    });
  }

  private async readOnce(attempt: Attempt<unknown>, answers: HashAnswers): Promise<{ outcome: Outcome; run: Run }> {
    const known = this.cache.head;
    const guess = new Run(this.cache, known);
    const guessed = known === undefined ? undefined : tryAttempt(attempt, new Overlay(guess), known, answers, guess);
    if (guessed && isFinal(guessed) && this.lease?.isHeld()) return { outcome: guessed, run: guess };
    return this.store.read(async (tx) => {
      const { head, run } = await this.enter(tx, guessed ? storeNeeds(guessed) : []);
      if (head === known && guessed && isFinal(guessed)) return { outcome: guessed, run: guess };
      for (;;) {
        const outcome = tryAttempt(attempt, new Overlay(run), head, answers, run);
        if (isFinal(outcome)) return { outcome, run };
        await run.fetch(tx, storeNeeds(outcome));
      }
    });
  }

  /** First fetch of a transaction: what is needed so far, and which commit the snapshot shows. */
  private async enter(tx: ReadTx, needs: readonly StoreNeed[]): Promise<{ head: Micros; run: Run }> {
    const plan = planOf(needs);
    const found = await tx.fetch([...plan.rows, HEAD], plan.ranges);
    const head = headOf(found.rows.at(-1));
    if (head !== this.cache.head) {
      if (this.inFlight?.ts === head) this.cache.advance(this.inFlight);
      else this.cache.forget(head);
    }
    const run = new Run(this.cache, head);
    run.keep(plan, found);
    return { head, run };
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
        await this.commitGroup(jobs, 0);
      } catch (reason) {
        await this.commitOneByOne(jobs, reason);
      }
    }
    this.isPumping = false;
  }

  /** A group that could not commit (quota, lost connection) tells nothing about its members: each is tried alone. */
  private async commitOneByOne(jobs: readonly Job[], reason: unknown): Promise<void> {
    if (jobs.length === 1) {
      jobs[0]?.fail(reason);
      return;
    }
    for (const job of jobs) {
      try {
        await this.commitGroup([job], 0);
      } catch (own) {
        job.fail(own);
      }
    }
  }

  private async commitGroup(jobs: readonly Job[], retries: number): Promise<void> {
    const known = this.cache.head;
    const guess = known === undefined ? undefined : evaluateGroup(jobs, new Run(this.cache, known), known);
    if (guess?.isFinal && guess.writes === undefined && this.lease?.isHeld()) {
      this.finish(guess, retries);
      return;
    }
    let moved = false;
    const group = await this.store.write(
      async (tx) => {
        if (guess?.isFinal && guess.writes && known !== undefined) {
          const asked = tx.fetch([HEAD], []);
          this.apply(tx, guess);
          if (headOf((await asked).rows[0]) === known) return guess;
          moved = true;
          throw new HeadMoved();
        }
        return this.evaluateIn(tx, jobs, guess, known);
      },
      { durability: this.durability },
    ).catch((reason: unknown) => {
      if (moved) return undefined;
      throw reason;
    });
    if (group) return this.finish(group, retries);
    this.cache.forget(undefined);
    return this.commitGroup(jobs, retries + 1);
  }

  private async evaluateIn(tx: WriteTx, jobs: readonly Job[], guess: Group | undefined, known: Micros | undefined): Promise<Group> {
    const { head, run } = await this.enter(tx, guess?.needs ?? []);
    if (guess?.isFinal && head === known) return guess;
    for (;;) {
      const group = evaluateGroup(jobs, run, head);
      if (group.isFinal) {
        this.apply(tx, group);
        return group;
      }
      await run.fetch(tx, group.needs);
    }
  }

  private apply(tx: WriteTx, group: Group): void {
    if (!group.writes) return;
    const head: Row = { key: HEAD.key, entries: [], value: JSON.stringify({ ts: group.ts }) };
    tx.apply({ puts: [...group.writes.puts, { space: HEAD.space, row: head }], deletes: group.writes.deletes });
    this.inFlight = changesOf(group.writes, (address) => group.run.peek(address), group.head, group.ts);
  }

  /** The commit is durable: caches and listeners hear of it, callers get their answers. */
  private finish(group: Group, retries: number): void {
    const changes = group.writes ? this.inFlight : undefined;
    this.inFlight = undefined;
    if (changes) {
      this.cache.advance(changes);
      const notice = noticeOf(changes);
      for (const listener of this.listeners) listener(notice);
    }
    this.queue.unshift(...group.rest);
    for (const { job, outcome, committed, readSet } of group.members) {
      if (outcome.state !== 'suspended') job.settle(outcome, committed, readSet, retries);
      else void this.answerHashes(job, outcome.needs);
    }
  }

  /** Hashing waits outside the queue: other writes go on. */
  private async answerHashes(job: Job, needs: readonly Need[]): Promise<void> {
    try {
      await job.answers.settle(hashNeeds(needs), this.passwords, this.hashCost);
      this.enqueue(job);
    } catch (reason) {
      job.fail(reason);
    }
  }
}

class HeadMoved extends Error {}

interface Group {
  readonly members: readonly { readonly job: Job; readonly outcome: Outcome; readonly committed: Micros | undefined; readonly readSet: ReadSet }[];
  /** Jobs that wait for the next commit: this one is large enough. */
  readonly rest: readonly Job[];
  /** Nothing more is needed from the store. Members may still wait for a hash: they wrote nothing. */
  readonly isFinal: boolean;
  readonly needs: readonly StoreNeed[];
  readonly writes: WriteSet | undefined;
  readonly run: Run;
  readonly head: Micros;
  readonly ts: Micros;
}

/** Evaluates jobs one over the other. */
function evaluateGroup(jobs: readonly Job[], run: Run, head: Micros): Group {
  const shared = new Overlay(run);
  const isAlone = jobs.length === 1;
  const needs: StoreNeed[] = [];
  const members: Group['members'][number][] = [];
  let ts = head;
  for (const job of jobs) {
    const own = isAlone ? shared : new Overlay(shared);
    const outcome = tryAttempt(job.attempt, own, ts, job.answers, run);
    needs.push(...storeNeeds(outcome));
    const wrote = outcome.state === 'done' && outcome.keep && !own.isEmpty;
    members.push({ job, outcome, committed: wrote ? outcome.ts : undefined, readSet: run.readSet() });
    if (!wrote) {
      if (isAlone) shared.clear();
      continue;
    }
    ts = outcome.ts;
    if (isAlone) break;
    shared.absorb(own.writes());
    if (shared.bytes > GROUP_BYTES_MAX) break;
  }
  const isFinal = needs.length === 0;
  return { members, rest: jobs.slice(members.length), isFinal, needs, writes: shared.isEmpty ? undefined : shared.writes(), run, head, ts };
}

function tryAttempt(attempt: Attempt<unknown>, writer: Overlay, head: Micros, answers: HashAnswers, run: Run): Outcome {
  run.begin();
  try {
    return { state: 'done', ...attempt({ writer, head, answers }) };
  } catch (reason) {
    return reason instanceof Suspended ? { state: 'suspended', needs: reason.needs } : { state: 'failed', reason };
  }
}

function valueOf<T>(outcome: Outcome): T {
  if (outcome.state === 'done') return outcome.value as T;
  throw outcome.state === 'failed' ? outcome.reason : new Suspended(outcome.needs);
}

const storeNeeds = (outcome: Outcome): StoreNeed[] =>
  outcome.state === 'suspended' ? outcome.needs.filter((need): need is StoreNeed => need.kind === 'row' || need.kind === 'range') : [];

const hashNeeds = (needs: readonly Need[]): HashNeed[] =>
  needs.filter((need): need is HashNeed => need.kind === 'verify' || need.kind === 'hash');

/** The store can do no more for it: settled, or waiting for a hash only. */
const isFinal = (outcome: Outcome): boolean => storeNeeds(outcome).length === 0;

export function headOf(row: Row | undefined): Micros {
  if (typeof row?.value !== 'string') return 0;
  const head: unknown = JSON.parse(row.value);
  return typeof head === 'object' && head !== null && 'ts' in head && typeof head.ts === 'number' ? head.ts : 0;
}

const noticeOf = ({ previous, ts, rows, entries }: Changes): CommitNotice => ({
  previous,
  ts,
  rows: rows.map(({ space, key }) => ({ space, key })),
  entries,
});
