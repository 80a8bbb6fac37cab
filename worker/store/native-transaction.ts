/** One native transaction. Its requests go out in the turn they are asked for; each settles in the end, whatever the browser does. */
import { assert, type Refusal } from '../../src/errors.ts';
import type { Durability } from '../../src/store/port.ts';
import { isNamed } from '../browser/is-named.ts';
import { BLOCKED_BEATS, SILENT_BEATS, type Waiting, type Watchdog } from './watchdog.ts';
import { blockedByOthers, silent, TransactionFailure } from './idb-failure.ts';
import type { OnResult } from './idb-rows.ts';
import { needsOneAtATime } from './in-flight.ts';

/** What the connection adds to it: see `ReconnectingConnection.begin`. */
export interface Watched {
  readonly watchdog: Watchdog;
  /** One of its requests has succeeded. */
  readonly onAnswer: () => void;
  /** The browser has ended it: nothing of it is under way any more. */
  readonly onEnded: () => void;
}

/**
 * Every transaction that writes covers it, so that none writes beside another, also of other tabs. Of two that were writing when it was
 * killed Chromium makes a database that it cannot open, and deletes it: docs/decisions/0004-crash.md. No query reads it.
 */
const OF_WRITERS = 'files';

export interface NativePlan extends Watched {
  /** The object stores that it covers. */
  readonly stores: readonly string[];
  readonly mode: IDBTransactionMode;
  readonly durability: Durability;
}

export class NativeTransaction implements Waiting {
  beats = 0;
  /** Whether it waits for others that write. */
  readonly isWriter: boolean;
  private readonly native: IDBTransaction;
  private readonly opened = new Map<string, IDBObjectStore>();
  private readonly watchdog: Watchdog;
  private readonly onAnswer: () => void;
  private state: 'open' | 'committing' | 'complete' | 'dropped' | 'failed' = 'open';
  private hasAnswered = false;
  /** Beats without a first answer after which it gives up. */
  private patience = BLOCKED_BEATS;
  private failedWith: TransactionFailure | undefined = undefined;
  /** Promises of this transaction that are not settled. */
  private readonly rejects = new Set<(failure: TransactionFailure) => void>();
  private onComplete: (() => void) | undefined = undefined;
  protected hasWritten = false;

  /** @throws TransactionFailure when the connection is closed */
  constructor(
    idb: IDBDatabase,
    { stores, mode, durability, watchdog, onAnswer, onEnded }: NativePlan,
  ) {
    this.watchdog = watchdog;
    this.onAnswer = onAnswer;
    this.isWriter = mode === 'readwrite';
    const covered = this.isWriter ? [...stores, OF_WRITERS] : stores;
    try {
      this.native = idb.transaction(covered, mode, { durability });
    } catch (reason) {
      throw new TransactionFailure(reason, false);
    }
    this.native.addEventListener('complete', () => {
      if (this.state === 'dropped' && this.hasWritten) reportError(new Error(endedEarly()));
      this.endIn('complete');
      this.onComplete?.();
      onEnded();
    });
    // WebKit gives the reason on the request alone, and Firefox after commit(): an error bubbles from there, ahead of the abort.
    let failed: DOMException | null = null;
    this.native.addEventListener('error', ({ target }) => {
      if (target instanceof IDBRequest) failed ??= target.error;
    });
    this.native.addEventListener('abort', () => {
      this.failWith(whyAborted(failed, this.native.error));
      onEnded();
    });
    watchdog.add(this);
  }

  /** What the request that is made answers. */
  answer<T>(make: (store: IDBObjectStore) => IDBRequest<T>, store: string): Promise<T> {
    return this.request((settle) => this.onResult(make(this.store(store)), settle));
  }

  /** The same of a request that writes. */
  change<T>(make: (store: IDBObjectStore) => IDBRequest<T>, store: string): Promise<T> {
    this.hasWritten = true;
    return this.answer(make, store);
  }

  /** The same of several; undefined: the transaction was over, because its body had awaited something else. It has changed nothing. */
  changeAll<T>(
    makes: readonly ((store: IDBObjectStore) => IDBRequest<T>)[],
    store: string,
  ): Promise<T[]> | undefined {
    if (this.failedWith) return Promise.reject(this.failedWith);
    let requests: readonly IDBRequest<T>[];
    try {
      requests = makes.map((make) => make(this.store(store)));
    } catch (reason) {
      if (!this.hasWritten && isInactive(reason)) return undefined;
      return this.request(() => {
        throw reason;
      });
    }
    this.hasWritten = true;
    const results = requests.map((each) =>
      this.request<T>((settle) => this.onResult(each, settle)),
    );
    return Promise.all(results);
  }

  /** What lies under a key. */
  raw(store: string, key: number): Promise<unknown> {
    return this.answer((each) => each.get(key), store);
  }

  putRaw(store: string, value: object): void {
    this.send(() => {
      this.store(store).put(value);
      this.hasWritten = true;
    });
  }

  count(store: string, range?: IDBKeyRange): Promise<number> {
    return this.answer((each) => each.count(range), store);
  }

  /**
   * Settles when everything is stored; at once when there is nothing to store. `IDBTransaction.commit()` is not called: after it
   * Firefox completes a transaction although one of its requests has failed, unless it was the last. Without it the browser commits
   * when the last request has succeeded, and a request that fails aborts the whole.
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

  /**
   * The same when only one request writes, and was made last: the browser commits without waiting for us to see its answer. Not
   * WebKit: a worker that is ended after that leaves a database there which the next page cannot open.
   */
  commitAtOnce(): Promise<void> {
    const committed = this.commit();
    if (!needsOneAtATime(navigator.userAgent)) this.attempt(() => this.native.commit());
    return committed;
  }

  /** Takes back everything. */
  drop(): void {
    assert(this.state !== 'complete' || !this.hasWritten, endedEarly);
    if (this.state !== 'open') return;
    this.endIn('dropped');
    this.abortQuietly();
  }

  get failure(): TransactionFailure | undefined {
    return this.failedWith;
  }

  beat(): void {
    if (this.hasAnswered || this.patience === SILENT_BEATS) {
      if (this.beats > SILENT_BEATS) this.giveUp(silent(false));
    } else if (this.beats > this.patience) this.giveUp(blockedByOthers());
  }

  /** Another of its connection that writes has moved on, and is at work or has ended: whoever waits behind it is blocked by nobody else. */
  followed(isAtWork: boolean): void {
    if (this.hasAnswered) return;
    this.beats = 0;
    this.patience = isAtWork ? SILENT_BEATS : BLOCKED_BEATS;
  }

  protected get isComplete(): boolean {
    return this.state === 'complete';
  }

  protected send(writes: () => void): void {
    assert(
      this.state === 'open' || this.failedWith,
      () => 'a write transaction writes nothing after its body has ended',
    );
    if (!this.failedWith) this.attempt(writes);
    if (this.failedWith) throw this.failedWith;
  }

  protected readonly onResult: OnResult = (request, take) => {
    // Not written where it is assigned: V8 would keep it, and the rows it is given, until a full collection.
    const takeResult = (): void => {
      this.hasAnswered = true;
      this.beats = 0;
      this.onAnswer();
      if (this.state === 'failed') return;
      this.attempt(() => take(request.result));
    };
    request.onsuccess = takeResult;
  };

  protected request<T>(send: (settle: (value: T) => void) => void): Promise<T> {
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

  protected store(name: string): IDBObjectStore {
    let store = this.opened.get(name);
    if (!store) this.opened.set(name, (store = this.native.objectStore(name)));
    return store;
  }

  /**
   * Until `commit()` of IndexedDB, or the last answer, the transaction can be aborted. Then its commit is on its way, however long
   * others keep it from beginning.
   * @param refusal when nothing of it was done
   */
  private giveUp(refusal: Refusal): void {
    const isAborted = this.abortQuietly();
    this.failWith(isAborted || !this.hasWritten ? refusal : silent(true));
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
    const isCertain = isNamed(reason, 'QuotaExceededError');
    this.endIn('failed');
    const failure = new TransactionFailure(reason, mayBeCommitted && this.hasWritten && !isCertain);
    this.failedWith = failure;
    for (const reject of this.rejects) reject(failure);
    this.rejects.clear();
  }

  private endIn(state: 'complete' | 'dropped' | 'failed'): void {
    this.state = state;
    this.watchdog.delete(this);
  }
}

/** An `AbortError` names no reason. */
const whyAborted = (...errors: readonly (DOMException | null)[]): DOMException =>
  errors.find((each) => each && each.name !== 'AbortError') ??
  new DOMException('The browser aborted the transaction.', 'AbortError');

const isInactive = (reason: unknown): boolean =>
  isNamed(reason, 'TransactionInactiveError', 'InvalidStateError');

export const endedEarly = (): string =>
  'the body of a transaction must await nothing but the transaction';
