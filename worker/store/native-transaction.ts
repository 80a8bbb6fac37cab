/**
 * One native transaction. Requests are sent in the event-loop turn in which they are made. Each of them settles, whatever the browser
 * does.
 */
import { assert, type Refusal } from '../../src/errors.ts';
import type { Durability } from '../../src/store/port.ts';
import { isNamed } from '../browser/is-named.ts';
import { BLOCKED_BEATS, SILENT_BEATS, type Waiting, type Watchdog } from './watchdog.ts';
import { blockedByOthers, noResponse, TransactionFailure } from './idb-failure.ts';
import { needsOneAtATime } from './in-flight.ts';

/** What the connection adds to a transaction: see `ReconnectingConnection.begin`. */
export interface Watched {
  readonly watchdog: Watchdog;
  /** One of its requests has succeeded. */
  readonly onAnswer: () => void;
  /** The browser has ended the transaction: none of its requests is pending any more. */
  readonly onEnded: () => void;
}

/**
 * Every write transaction covers this object store, so that no two write at the same time, even in different tabs. If the browser is
 * killed while two transactions are writing, Chromium cannot open the database at the next start and deletes it:
 * docs/decisions/0004-crash.md. Queries do not read this object store.
 */
const OF_WRITERS = 'files';

export interface NativePlan {
  /** The object stores that the transaction covers. */
  readonly stores: readonly string[];
  readonly mode: IDBTransactionMode;
  readonly durability: Durability;
}

export class NativeTransaction implements Waiting {
  beats = 0;
  /** Whether it is a write transaction, which waits for other write transactions. */
  readonly isWriter: boolean;
  private readonly native: IDBTransaction;
  private readonly opened = new Map<string, IDBObjectStore>();
  private readonly watchdog: Watchdog;
  private readonly onAnswer: () => void;
  private state: 'open' | 'committing' | 'complete' | 'dropped' | 'failed' = 'open';
  private hasAnswered = false;
  /** The number of beats without any response after which it gives up. */
  private patience = BLOCKED_BEATS;
  private failedWith: TransactionFailure | undefined = undefined;
  /** Rejects the promises of this transaction that are not settled. */
  private readonly rejects = new Set<(failure: TransactionFailure) => void>();
  private onComplete: (() => void) | undefined = undefined;
  protected hasWritten = false;

  /** @throws TransactionFailure when the connection is closed */
  constructor(
    idb: IDBDatabase,
    { stores, mode, durability, watchdog, onAnswer, onEnded }: NativePlan & Watched,
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
    // WebKit sets the reason only on the request, as Firefox does after commit(). The error event bubbles from the request before the
    // abort event.
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

  /** Sends the request that `make` creates, and resolves with its result. */
  answer<T>(make: (store: IDBObjectStore) => IDBRequest<T>, store: string): Promise<T> {
    return this.request((settle) => this.onResult(make(this.store(store)), settle));
  }

  /** Passes each position of a cursor to `take`, until there are no more or it returns false. */
  walk(
    open: (store: IDBObjectStore) => IDBRequest<IDBCursor | null>,
    store: string,
    take: (cursor: IDBCursor) => boolean,
  ): Promise<void> {
    return this.request((settle) =>
      this.onResult(open(this.store(store)), (cursor) => {
        if (cursor && take(cursor)) cursor.continue();
        else settle();
      }),
    );
  }

  /** The same as `answer` for a request that writes. */
  change<T>(make: (store: IDBObjectStore) => IDBRequest<T>, store: string): Promise<T> {
    this.hasWritten = true;
    return this.answer(make, store);
  }

  /**
   * The same as `change` for several requests. Undefined: the transaction was already over, because its body awaited something else, and
   * it has changed nothing.
   */
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

  /** The value stored under a key. */
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
   * Resolves when everything is stored, or immediately if nothing was written. Does not call `IDBTransaction.commit()`: after that call,
   * Firefox completes a transaction although one of its requests has failed, unless it was the last one. Without the call, the browser
   * commits after the last request has succeeded, and a failed request aborts the whole transaction.
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
   * The same as `commit()`, if only one request writes and it was made last: the browser commits without waiting until we have seen the
   * result. Not in WebKit: if the worker is terminated after that, the next page cannot open the database.
   */
  commitAtOnce(): Promise<void> {
    const committed = this.commit();
    if (!needsOneAtATime(navigator.userAgent)) this.attempt(() => this.native.commit());
    return committed;
  }

  /** Rolls everything back. */
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
      if (this.beats > SILENT_BEATS) this.giveUp(noResponse(false));
    } else if (this.beats > this.patience) this.giveUp(blockedByOthers());
  }

  /**
   * Another write transaction of this connection has made progress (`isAtWork`) or has ended. So this transaction waits for that one or
   * is next: it is not blocked by another tab.
   */
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

  /** Passes the results of a request on. A failed request aborts the transaction, so it needs no handler. */
  private onResult<T>(request: IDBRequest<T>, take: (result: T) => void): void {
    // A separate function: if it were written inline in the assignment, V8 would keep it, and the rows it receives, until a full garbage
    // collection.
    const takeResult = (): void => {
      this.hasAnswered = true;
      this.beats = 0;
      this.onAnswer();
      if (this.state === 'failed') return;
      this.attempt(() => take(request.result));
    };
    request.onsuccess = takeResult;
  }

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
    // Avoids an unhandled rejection: a body that fails need not await all of its requests.
    answer.catch(() => undefined);
    return answer;
  }

  protected store(name: string): IDBObjectStore {
    let store = this.opened.get(name);
    if (!store) this.opened.set(name, (store = this.native.objectStore(name)));
    return store;
  }

  /**
   * Gives up waiting. The transaction can be aborted until `commit()` of IndexedDB was called or the last request was answered. After
   * that, its commit may still happen, however long others delay it.
   * @param refusal thrown when nothing was written
   */
  private giveUp(refusal: Refusal): void {
    const isAborted = this.abortQuietly();
    this.failWith(isAborted || !this.hasWritten ? refusal : noResponse(true));
  }

  /** If `send` throws, the transaction is aborted: half of its writes must not remain. */
  private attempt(send: () => void): void {
    const wasOpen = this.state === 'open';
    try {
      send();
    } catch (reason) {
      this.failWith(reason);
      if (wasOpen) this.abortQuietly();
    }
  }

  /** Returns false when the transaction has already ended or is being committed. That outcome was reported, or will be. */
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
    // An inactive transaction has ended unnoticed: rolled back, or committed because it had no pending request.
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

/** Rolls everything back, and throws the reason of the failure. */
export const dropping =
  (tx: NativeTransaction) =>
  (reason: unknown): never => {
    tx.drop();
    throw tx.failure ?? reason;
  };

/** An `AbortError` does not tell the reason, so another error is preferred. */
const whyAborted = (...errors: readonly (DOMException | null)[]): DOMException =>
  errors.find((each) => each && each.name !== 'AbortError') ??
  new DOMException('The browser aborted the transaction.', 'AbortError');

const isInactive = (reason: unknown): boolean =>
  isNamed(reason, 'TransactionInactiveError', 'InvalidStateError');

export const endedEarly = (): string =>
  'the body of a transaction must await nothing but the transaction';
