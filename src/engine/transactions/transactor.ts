/**
 * Executes transaction bodies over a store: fetches the data that a body needs, executes the body again with it, and commits what it wrote.
 * Writes that wait at the same time share a commit. See docs/decisions/0001-run-again.md.
 */
import type { ReadSet } from '../../store/execution-reads.ts';
import { HOT_SPACES, type ReadTx, type Store } from '../../store/port.ts';
import type { Micros } from '../../values/value.ts';
import type { CommitNotice, EngineOptions, QueryRequest } from '../context/host.ts';
import { CommitNotices } from './commit-notices.ts';
import { CommitQueue } from './commit-queue.ts';
import type { DetachedOption } from './detached.ts';
import { executeAt, hostNeeds, valueOf } from './execution.ts';
import type { Outcome, TransactionBody, WriteLimits } from './execution.ts';
import { GroupCommitter, type CommitOptions } from './group-commit.ts';
import { HeadTracker, type Snapshot } from './head-tracker.ts';
import { HostAnswers } from './host-answers.ts';
import { HostWork } from './host-work.ts';
import { isValid, unreadBy } from './validation.ts';

export interface Transacted<T> {
  readonly value: T;
  /** The commit time. Undefined when nothing was written. */
  readonly committed: Micros | undefined;
  readonly readSet: ReadSet;
  /** The time of the last commit that the body was executed over. */
  readonly head: Micros;
  /** How often the body was executed again because another commit intervened or an assumption was false. */
  readonly retries: number;
}

const HOT = { spaces: HOT_SPACES };
const STALE = { ...HOT, allowsStale: true };

/** How recent the state that a read shows must be. */
export type ReadFreshness = Pick<QueryRequest, 'minSnapshot'>;

type ReadLimits = ReadFreshness & Pick<QueryRequest, 'whenFree'>;

type TransactorOptions = ConstructorParameters<typeof HostWork>[0] &
  CommitOptions &
  Pick<EngineOptions, 'lease'> &
  Partial<Pick<EngineOptions, 'pause' | 'fetchBytes' | 'makeWaiting'>>;

export class Transactor {
  private readonly store: Store;
  private readonly detached: DetachedOption['detached'];
  private readonly work: HostWork;
  private readonly heads: HeadTracker;
  private readonly notices = new CommitNotices();
  private readonly queue: CommitQueue;

  constructor(options: TransactorOptions) {
    this.store = options.store;
    this.work = new HostWork(options);
    this.heads = new HeadTracker(options.lease, options.fetchBytes);
    this.detached = options.detached;
    const committer = new GroupCommitter(options, this.heads, this.notices);
    this.queue = new CommitQueue(committer, options);
  }

  onCommit(listener: (notice: CommitNotice) => void): () => void {
    return this.notices.add(listener);
  }

  applyCommit({ previous, ts, rows, entries }: CommitNotice): void {
    const changed = rows.map((each) => ({ ...each, row: 'unknown' as const }));
    this.heads.apply({ previous, ts, entries, rows: changed });
  }

  async read<T>(body: TransactionBody<T>, options: ReadLimits = {}): Promise<Transacted<T>> {
    const answers = new HostAnswers(this.work);
    for (;;) {
      const outcome = await this.readOnce(body, answers, options);
      const needs = hostNeeds(outcome);
      if (needs.length === 0) {
        const { readSet, head } = outcome;
        return { value: valueOf(outcome) as T, committed: undefined, readSet, head, retries: 0 };
      }
      await answers.settle(needs);
    }
  }

  /** Resolves when the commit is durable, or at once when nothing was written. */
  write<T>(
    body: TransactionBody<T>,
    { retriesMax, line }: WriteLimits = {},
  ): Promise<Transacted<T>> {
    return new Promise((resolve, reject) => {
      this.queue.add({
        body,
        retriesMax,
        line,
        answers: new HostAnswers(this.work),
        settle: (outcome, committed, retries) => {
          try {
            const { readSet, head } = outcome;
            resolve({ value: valueOf(outcome) as T, committed, readSet, head, retries });
          } catch (reason) {
            reject(reason);
          }
        },
        fail: reject,
      });
    });
  }

  private async readOnce(
    body: TransactionBody<unknown>,
    answers: HostAnswers,
    { minSnapshot, whenFree }: ReadLimits,
  ): Promise<Outcome> {
    const { heads, queue, store } = this;
    const detached = this.detached && (await this.detached.read(store, heads, body, answers));
    if (detached) return detached;
    const known = heads.cached();
    const optimistic = known && executeAt(known, body, answers);
    const unread = optimistic ? unreadBy(optimistic) : [];
    if (optimistic && unread.length === 0 && heads.isCurrent()) return optimistic;
    const finish = async (tx: ReadTx, snapshot: Snapshot): Promise<Outcome> => {
      const { head, reader } = snapshot;
      if (optimistic && head === known?.head && isValid(optimistic, reader)) return optimistic;
      for (;;) {
        const free = tx.canWait ? whenFree?.() : undefined;
        if (free) await free;
        const outcome = executeAt(snapshot, body, answers);
        const needs = unreadBy(outcome);
        if (needs.length > 0) await reader.fetch(tx, needs, [outcome.readSet]);
        if (isValid(outcome, reader)) return outcome;
      }
    };
    if (minSnapshot !== undefined && !heads.isCurrent()) {
      const stale = await store.read(async (tx) => {
        const snapshot = await heads.enterStale(tx, unread, minSnapshot);
        return snapshot && finish(tx, snapshot);
      }, STALE);
      if (stale) return stale;
    }
    return store.read(async (tx) => {
      const trusted = queue.isIdle ? heads.trusted() : undefined;
      return finish(tx, await heads.enter(tx, unread, trusted));
    }, HOT);
  }
}
