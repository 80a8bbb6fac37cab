/** One native transaction as the port's. Its requests go out in the turn they are asked for. */
import type { Key } from '../../src/codec/key.ts';
import { assert, Refusal } from '../../src/errors.ts';
import {
  requireWithin,
  type Durability,
  type Found,
  type Range,
  type RowAddress,
  type Space,
  type WriteSet,
  type WriteTx,
} from '../../src/store/port.ts';
import { BLOCKED_BEATS, type Waiting, type Watchdog } from './deadline.ts';
import { blockedByOthers, TransactionFailure } from './idb-failure.ts';
import { requestAll, type FetchSource } from './idb-fetch.ts';
import { storedRow, type OnResult } from './idb-rows.ts';

export interface TransactionPlan {
  readonly spaces: readonly Space[];
  readonly mode: IDBTransactionMode;
  readonly durability: Durability;
  /** Of the database this store opened: what its commits' names begin with. */
  readonly birth: string;
  /** Its name marks the rows of `meta` it writes: whose they are, and later, whether the commit arrived. */
  readonly commit: string;
  readonly watchdog: Watchdog;
  /** The browser has ended it: nothing of it is under way any more. */
  readonly onEnded: () => void;
}

/** Beats without a further answer: the backend is gone. */
const SILENT_BEATS = 60;

export class IdbTransaction implements WriteTx, Waiting {
  beats = 0;
  readonly plan: TransactionPlan;
  private readonly native: IDBTransaction;
  private readonly stores: Partial<Record<Space, IDBObjectStore>> = {};
  private state: 'open' | 'committing' | 'complete' | 'dropped' | 'failed' = 'open';
  private hasAnswered = false;
  private hasWritten = false;
  private failedWith: TransactionFailure | undefined = undefined;
  /** Promises of this transaction that are not settled. */
  private readonly rejects = new Set<(failure: TransactionFailure) => void>();
  private onComplete: (() => void) | undefined = undefined;
  /** Commits that wrote the rows of `meta` read here, and the first such row written here. */
  private readonly commitsSeen = new Map<Key, string | undefined>();
  private mark: Key | undefined = undefined;
  private isBorn = false;

  /** @throws TransactionFailure when the connection is closed */
  constructor(idb: IDBDatabase, plan: TransactionPlan) {
    this.plan = plan;
    try {
      this.native = idb.transaction(plan.spaces, plan.mode, { durability: plan.durability });
    } catch (reason) {
      throw new TransactionFailure(reason, false);
    }
    this.native.addEventListener('complete', () => {
      if (this.state === 'dropped' && this.hasWritten) reportError(new Error(endedEarly()));
      this.endIn('complete');
      this.onComplete?.();
      plan.onEnded();
    });
    // WebKit tells why on the request alone: an error bubbles from there, ahead of the abort.
    let failed: DOMException | null = null;
    this.native.addEventListener('error', ({ target }) => {
      if (target instanceof IDBRequest) failed ??= target.error;
    });
    this.native.addEventListener('abort', () => {
      this.failWith(
        this.native.error ??
          failed ??
          new DOMException('The browser aborted the transaction.', 'AbortError'),
      );
      plan.onEnded();
    });
    plan.watchdog.add(this);
  }

  fetch(
    rows: readonly RowAddress[],
    ranges: readonly Range[],
    bytesMax = Infinity,
  ): Promise<Found> {
    return this.request((settle) => {
      assert(this.state !== 'complete', endedEarly);
      requestAll(this.source, { rows, ranges, bytesMax }, settle);
    });
  }

  /** Rows go out at once, ahead of the answers the body still waits for; an abort takes them back. */
  apply({ puts, deletes }: WriteSet): void {
    this.send(() => {
      for (const { space, key } of deletes) this.store(space).delete(key);
      for (const { space, row, isNew } of puts) {
        const stored = storedRow(space, row, this.plan.commit);
        if (isNew) this.store(space).add(stored);
        else this.store(space).put(stored);
        if (space === 'meta') this.mark ??= row.key;
      }
      this.hasWritten ||= puts.length + deletes.length > 0;
    });
  }

  /** What lies under a key that no row has: the stamps of `birth-stamp.ts`. */
  raw(space: Space, key: number): Promise<unknown> {
    return this.request((settle) => this.onResult(this.store(space).get(key), settle));
  }

  putRaw(space: Space, value: object): void {
    this.send(() => {
      this.store(space).put(value);
      this.hasWritten = true;
    });
  }

  private send(writes: () => void): void {
    assert(
      this.state === 'open' || this.failedWith,
      () => 'a write transaction writes nothing after its body has ended',
    );
    if (!this.failedWith) this.attempt(writes);
    if (this.failedWith) throw this.failedWith;
  }

  count(space: Space): Promise<number> {
    return this.request((settle) => this.onResult(this.store(space).count(), settle));
  }

  /**
   * Settles when everything is stored; at once when there is nothing to store. `IDBTransaction.commit()` is not called: after it
   * Firefox completes a transaction although one of its requests has failed. Without it the browser commits when the last request
   * has succeeded, and a request that fails aborts the whole.
   */
  commit(): Promise<void> {
    return this.request((settle) => {
      assert(this.state === 'open', endedEarly);
      this.state = 'committing';
      this.beats = 0;
      if (this.hasWritten) this.onComplete = settle;
      else settle();
    });
  }

  /** Takes back everything. */
  drop(): void {
    assert(this.state !== 'complete' || !this.hasWritten, endedEarly);
    if (this.state !== 'open') return;
    this.endIn('dropped');
    this.abortQuietly();
  }

  /** Something was written, and no row read so far tells that this is the database it was meant for. */
  get mustLookAtStamp(): boolean {
    return this.hasWritten && !this.isBorn;
  }

  get failure(): TransactionFailure | undefined {
    return this.failedWith;
  }

  /**
   * Asked in a later transaction: did this one's commit arrive? Undefined: it cannot be told, for others have written since, or
   * this one has left no mark.
   */
  async hasArrived(later: IdbTransaction): Promise<boolean | undefined> {
    const { mark } = this;
    if (mark === undefined) return undefined;
    await later.fetch([{ space: 'meta', key: mark }], []);
    const now = later.commitsSeen.get(mark);
    if (now === this.plan.commit) return true;
    return this.commitsSeen.has(mark) && this.commitsSeen.get(mark) === now ? false : undefined;
  }

  beat(): void {
    if (!this.hasAnswered && this.beats > BLOCKED_BEATS) this.giveUp(blockedByOthers);
    else if (this.beats > SILENT_BEATS) this.giveUp(silent);
  }

  private noteCommit(key: Key, commit: string | undefined): void {
    this.commitsSeen.set(key, commit);
    if (commit?.startsWith(this.plan.birth) === true) this.isBorn = true;
  }

  /** As long as a request is unanswered, the transaction can be aborted; once it cannot, its commit is on its way. */
  private giveUp(refusal: (mayBeCommitted: boolean) => Refusal): void {
    const isAborted = this.abortQuietly();
    this.failWith(refusal(!isAborted && this.hasWritten));
  }

  private readonly onResult: OnResult = (request, take) => {
    // Not written where it is assigned: V8 would keep it, and the rows it is given, until a full collection.
    const takeResult = (): void => {
      this.hasAnswered = true;
      this.beats = 0;
      if (this.state === 'failed') return;
      this.attempt(() => take(request.result));
    };
    request.onsuccess = takeResult;
  };

  private readonly source: FetchSource = {
    store: (space) => this.store(space),
    onResult: this.onResult,
    onMeta: (key, commit) => this.noteCommit(key, commit),
  };

  private request<T>(send: (settle: (value: T) => void) => void): Promise<T> {
    const answer = new Promise<T>((resolve, reject) => {
      if (this.failedWith) return reject(this.failedWith);
      this.rejects.add(reject);
      this.attempt(() =>
        send((value) => {
          this.rejects.delete(reject);
          resolve(value);
        }),
      );
    });
    // A body that fails need not wait for all it asked.
    answer.catch(() => undefined);
    return answer;
  }

  /** What throws here ends the transaction: half of it must not stay. */
  private attempt(send: () => void): void {
    const wasOpen = this.state === 'open';
    try {
      send();
    } catch (reason) {
      this.failWith(reason);
      if (wasOpen) this.abortQuietly();
    }
  }

  /** Returns false when it had ended before, or is being committed: that is what was or will be reported. */
  private abortQuietly(): boolean {
    try {
      this.native.abort();
      return true;
    } catch {
      return false;
    }
  }

  private failWith(reason: unknown): void {
    if (this.state === 'dropped' || this.failedWith) return;
    // An inactive transaction has ended unseen: taken back, or committed for want of requests.
    const mayBeCommitted = this.state === 'committing' || isInactive(reason);
    const isCertain = reason instanceof DOMException && reason.name === 'QuotaExceededError';
    this.endIn('failed');
    const failure = new TransactionFailure(reason, mayBeCommitted && this.hasWritten && !isCertain);
    this.failedWith = failure;
    for (const reject of this.rejects) reject(failure);
    this.rejects.clear();
  }

  private endIn(state: 'complete' | 'dropped' | 'failed'): void {
    this.state = state;
    this.plan.watchdog.delete(this);
  }

  private store(space: Space): IDBObjectStore {
    return (this.stores[space] ??= this.openStore(space));
  }

  private openStore(space: Space): IDBObjectStore {
    requireWithin(this.plan.spaces, space);
    return this.native.objectStore(space);
  }
}

const isInactive = (reason: unknown): boolean =>
  reason instanceof DOMException &&
  (reason.name === 'TransactionInactiveError' || reason.name === 'InvalidStateError');

export const endedEarly = (): string =>
  'the body of a transaction must await nothing but the transaction';

const silent = (mayBeCommitted: boolean): Refusal =>
  new Refusal(
    'storage_unavailable',
    mayBeCommitted
      ? "The browser's storage did not confirm the write, so it may or may not be stored. Check before you write it again."
      : "The browser's storage does not respond. Nothing was written. Try again; if it keeps failing, reload the page.",
  );
