/** Attempts: synchronous evaluations over a run of facts, alone or one over the other. */
import { assert } from '../../errors.ts';
import { Overlay } from '../../store/overlay.ts';
import type { WriteSet } from '../../store/port.ts';
import { Suspended, type Need, type Writer } from '../../store/reader.ts';
import type { Run, StoreNeed } from '../../store/run.ts';
import type { Micros } from '../../values/value.ts';
import type { CommitNotice, ReadSet } from '../context/host.ts';
import type { HostAnswers, HostNeed } from './host-answers.ts';

/** What an attempt may use. The same attempt runs several times: it depends on nothing else. */
export interface AttemptInput {
  /** Reads only, when run by `Transactor.read`. */
  readonly writer: Writer & { readonly bytes: number };
  /** Last commit before this attempt. */
  readonly head: Micros;
  readonly answers: HostAnswers;
  /**
   * Runs a query: what it reads is bounded. The jobs of the engine bound their own steps.
   * @throws Refusal `limit_exceeded`, and what the query throws
   */
  readonly bounded: <T>(query: () => T) => T;
}
export type Announced = Pick<CommitNotice, 'rows' | 'entries'>;

export interface AttemptResult<T> {
  readonly value: T;
  /** Commit time of what it wrote: above `head`. */
  readonly ts: Micros;
  /** False: what it wrote is dropped. */
  readonly keep: boolean;
  /** Seen to change though no row of it did: what a replica shows is not what it stores. */
  readonly announced?: Announced;
}
/** Throws `Suspended` for what it needs; anything else it throws drops what it wrote. */
export type Attempt<T> = (input: AttemptInput) => AttemptResult<T>;

/**
 * How one attempt ended. `failed` carries what it threw: a refusal, or a mistake of ours. It holds only if everything
 * in `presumed` is absent.
 */
export type Outcome = { readonly presumed: readonly StoreNeed[]; readonly readSet: ReadSet } & (
  | ({ readonly state: 'done' } & AttemptResult<unknown>)
  | { readonly state: 'failed'; readonly reason: unknown }
  | { readonly state: 'suspended'; readonly needs: readonly Need[] }
);

export function tryAttempt(attempt: Attempt<unknown>, input: AttemptInput, run: Run): Outcome {
  run.begin();
  const ended = () => ({ presumed: run.presumptions, readSet: run.readSet() });
  try {
    const result = attempt(input);
    return { state: 'done', ...result, ...ended() };
  } catch (thrown) {
    if (thrown instanceof Suspended) return { state: 'suspended', needs: thrown.needs, ...ended() };
    return { state: 'failed', reason: thrown, ...ended() };
  }
}

/** What it waits for: without that there is no outcome. */
export const storeNeeds = (outcome: Outcome): readonly StoreNeed[] =>
  outcome.state === 'suspended' ? outcome.needs.filter(isStoreNeed) : [];

const isStoreNeed = (need: Need): need is StoreNeed => need.kind === 'row' || need.kind === 'range';

export const hostNeeds = (outcome: Outcome): readonly HostNeed[] =>
  outcome.state === 'suspended'
    ? outcome.needs.filter((need): need is HostNeed => !isStoreNeed(need))
    : [];

/** @throws what the attempt threw */
export function valueOf(outcome: Outcome): unknown {
  if (outcome.state === 'done') return outcome.value;
  throw outcome.state === 'failed' ? outcome.reason : new Suspended(outcome.needs);
}

export interface WriteLimits {
  /** How often another commit may come between; undefined: as often as it does. */
  readonly retriesMax?: number | undefined;
}

/** A query that waits to be written. */
export interface Job extends WriteLimits {
  readonly attempt: Attempt<unknown>;
  readonly answers: HostAnswers;
  readonly settle: (outcome: Outcome, committed: Micros | undefined, retries: number) => void;
  readonly fail: (reason: unknown) => void;
}

/** Jobs evaluated one over the other, to share a commit. */
export interface Group {
  readonly members: readonly {
    readonly job: Job;
    readonly outcome: Outcome;
    readonly committed: Micros | undefined;
  }[];
  /** Jobs that wait for the next commit: this one is large enough. */
  readonly rest: readonly Job[];
  /** What its members wait for; those that wait for the host only wrote nothing, and hold up nobody. */
  readonly needs: readonly StoreNeed[];
  readonly presumed: readonly StoreNeed[];
  readonly writes: WriteSet | undefined;
  readonly run: Run;
  readonly head: Micros;
  readonly ts: Micros;
}

const GROUP_BYTES_MAX = 4 * 1024 * 1024;

export function evaluateGroup(jobs: readonly Job[], run: Run, head: Micros): Group {
  const shared = new Overlay(run);
  const isAlone = jobs.length === 1;
  const needs: StoreNeed[] = [];
  const presumed: StoreNeed[] = [];
  const members: Group['members'][number][] = [];
  let ts = head;
  run.beginGroup();
  for (const job of jobs) {
    const own = isAlone ? shared : new Overlay(shared);
    const bounded: AttemptInput['bounded'] = (query) => run.bounded(query);
    const input = { writer: own, head: ts, answers: job.answers, bounded };
    const outcome = tryAttempt(job.attempt, input, run);
    addTo(needs, storeNeeds(outcome));
    addTo(presumed, outcome.presumed);
    const wrote = outcome.state === 'done' && outcome.keep && !own.isEmpty;
    members.push({ job, outcome, committed: wrote ? outcome.ts : undefined });
    if (wrote) {
      const last = ts;
      assert(
        outcome.ts > last,
        () => `a commit at ${outcome.ts} does not follow the last one at ${last}`,
      );
      ts = outcome.ts;
    }
    if (isAlone) {
      if (!wrote) shared.clear();
    } else if (wrote) shared.absorb(own.writes());
    if (shared.bytes > GROUP_BYTES_MAX || run.isFull) break;
  }
  const rest = jobs.slice(members.length);
  const writes = shared.isEmpty ? undefined : shared.writes();
  return { members, rest, needs, presumed, writes, run, head, ts };
}

/** Not by spreading: needs may be more than a call takes arguments. */
function addTo(list: StoreNeed[], more: readonly StoreNeed[]): void {
  for (const need of more) list.push(need);
}
