import type { HostApi, PageMessage, Reply, WorkerMessage } from '../../host/api.ts';
import type { UnlockCall, UnlockReply } from '../../host/open.ts';
import type { Settings } from '../../host/settings.ts';
import type { Persistence } from '../../states.ts';
import { Connection, type Ending } from './connection.ts';
import { DatabaseClosed, refusalError, type QueryError } from '../errors.ts';
import { lossReport, type LossReport } from './loss-report.ts';
import { ALIVE } from './clean-shutdown.ts';
import { isLeft, PageCache } from './page-cache.ts';
import { startWorker } from './start-worker.ts';
import { forgetStored } from './stored-calls.ts';
import type { Remote } from 'comlink';

/** A worker that is lost so soon after the one before it is not replaced until somebody calls it. */
const CRASH_LOOP_MS = 10_000;

/** How long to wait before a worker that could not be started is tried again, the first time; twice as long each time after. */
const RETRY_MS = 1000;
const RETRY_MS_MAX = 32_000;

/** How often the database may be locked or unlocked during one call before the call fails. */
const LOCK_CHANGES_MAX = 3;

export interface LinkTarget {
  /** Name of the stored database. */
  readonly name: string;
  readonly settings: Settings;
}

export interface LinkOptions extends LinkTarget {
  readonly start: (() => Worker) | undefined;
}

/** Receivers of events. */
export interface LinkListener {
  onMessage?(message: WorkerMessage): void;
  /** The database was locked or unlocked, as `isLocked` says. */
  onLock?(): void;
  /** A new worker serves the database: subscriptions must be sent again. */
  onRenewed?(): void;
  /** The worker has ended, or the database was closed: no more events. `isPageKept`: a new worker starts when the page is shown again. */
  onEnded?(reason: Error): void;
}

type Host = Remote<HostApi<MessagePort>>;
export type HostCall<T> = (host: Host, number?: number) => Promise<Reply<T>>;

/** Calls to the worker of one open database. A lost worker is replaced at the next call. */
export class Link {
  readonly name: string;
  readonly #options: LinkOptions;
  readonly #listeners = new Set<LinkListener>();
  #current: Promise<Connection> | undefined = undefined;
  /** Whether a worker is loading. It has not opened anything yet. */
  #isStarting = false;
  /** Whether `current` has resolved. */
  #isServing = false;
  /** Whether a worker was connected when the page was left. */
  #mustResume = false;
  #closed: Error | undefined = undefined;
  /** Of the first `close()`. */
  #ending: { readonly how: Ending; readonly done: Promise<void> } | undefined = undefined;
  /** Private, so that no console and no error reporter shows it. */
  #secret = '';
  #birth: string | undefined = undefined;
  #syncSecret: string | undefined = undefined;
  #lastLoss: LossReport | undefined = undefined;
  #lastPersistence: Persistence = 'none';
  #opened = 0;
  #retryMs = RETRY_MS;
  #retry: ReturnType<typeof setTimeout> | undefined = undefined;
  #replacedAt = -Infinity;
  #locked = false;
  /** Counts locking and unlocking: calls begun before are not answered after. */
  #lockChanges = 0;
  readonly #page: PageCache;
  #calls = 0;
  /** The last worker that had to let go, until it has. */
  #retiring: Promise<void> | undefined = undefined;

  constructor(options: LinkOptions) {
    this.name = options.name;
    this.#options = options;
    this.#page = new PageCache({
      onKept: () => this.#onLeft(),
      onShown: () => this.#resume(),
    });
  }

  /** What it leads to. */
  get target(): LinkTarget {
    return this.#options;
  }

  /** Why nothing can be asked any more. */
  get closed(): Error | undefined {
    return this.#closed;
  }

  /** The page is in the browser's back/forward cache: calls wait until it is shown again. */
  get isPageKept(): boolean {
    return this.#page.isKept;
  }

  /** Secret of clients of the synced identity: stays valid when a worker is replaced. */
  get syncSecret(): string | undefined {
    return this.#syncSecret;
  }

  set syncSecret(secret: string | undefined) {
    this.#syncSecret = secret;
  }

  get rootSecret(): string {
    return this.#secret;
  }

  /** Whether its user has signed out. */
  get isLocked(): boolean {
    return this.#locked;
  }

  /** Loss of data that was found when the database was last opened. */
  get loss(): LossReport | undefined {
    return this.#lastLoss;
  }

  get persistence(): Persistence {
    return this.#lastPersistence;
  }

  async acknowledgeLoss(): Promise<void> {
    await this.call((host) => host.acknowledgeLoss());
    this.#lastLoss = undefined;
  }

  listen(listener: LinkListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens the database; again when its worker was lost. */
  connect(): Promise<Connection> {
    if (this.#closed) return Promise.reject(this.#closed);
    if (this.#current) return this.#current;
    const opening = this.#openInView().catch((error: unknown) => {
      if (this.#current === opening) this.#current = undefined;
      this.#retryLater();
      throw error;
    });
    this.#current = opening;
    return opening;
  }

  /** Whoever waits for a worker, such as a live query or sync, need not ask again: the network may have been away. */
  #retryLater(): void {
    // Not opened yet, `openDatabase()` rejects.
    if (this.#opened === 0 || this.#closed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.connect().catch(() => undefined), this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS_MAX);
  }

  /** Has another worker take over from one that is lost. @throws the reason of its loss, when workers die one after the other */
  async replace(reason: Error): Promise<void> {
    // Of a page that was left: no fault of the worker. Another one comes when the page is shown.
    if (!this.#current && !this.isPageKept) {
      const now = performance.now();
      if (now - this.#replacedAt < CRASH_LOOP_MS) throw reason;
      this.#replacedAt = now;
    }
    await this.connect();
  }

  /** Opens it for the first time. */
  async start(): Promise<void> {
    try {
      await this.#throughLockChanges(() => Promise.resolve());
    } catch (error) {
      this.#page.stop();
      throw error;
    }
  }

  /**
   * @param run is given the number by which the worker knows a call with a signal
   * @param signal ends the call with its reason if it has had no effect: once the worker has the call, that is its decision
   */
  call<T>(run: HostCall<T>, signal?: AbortSignal): Promise<T> {
    return signal ? this.#callUntil(signal, run) : this.#send(run);
  }

  async #send<T>(run: HostCall<T>): Promise<T> {
    const connection = await this.connect();
    return connection.call(run).catch((error: QueryError) => {
      // The worker knows less: closed by this page, the remedy is to open it again.
      throw (error.code === 'storage_unavailable' && this.#closed) || error;
    });
  }

  #callUntil<T>(signal: AbortSignal, run: HostCall<T>): Promise<T> {
    const number = ++this.#calls;
    return new Promise((resolve, reject) => {
      let asked: Host | undefined;
      const abort = (): void => (asked ? void asked.abort(number) : reject(signal.reason));
      signal.addEventListener('abort', abort);
      if (signal.aborted) abort();
      this.#send(async (host) => {
        if (signal.aborted) throw signal.reason;
        return run((asked = host), number);
      })
        .then(resolve, (error: QueryError) =>
          reject(signal.aborted && error.code === 'time out' ? signal.reason : error),
        )
        .finally(() => signal.removeEventListener('abort', abort));
    });
  }

  /** A call that changes nothing: repeated when the page was left during it. */
  async ask<T>(run: HostCall<T>): Promise<T> {
    for (;;) {
      const { signal } = this.#page.inView;
      try {
        return await this.call(run);
      } catch (error) {
        if (!isLeft(signal, error)) throw error;
      }
    }
  }

  /** Sent when connected. */
  async post(message: PageMessage): Promise<void> {
    const connection = await this.connect();
    if (this.#locked) throw lockedError();
    connection.post(message);
  }

  /** Ends the session in all tabs. Pending calls are rejected with `lockedError()`. */
  async lock(): Promise<void> {
    await this.#throughLockChanges(async (connection) => {
      if (!this.#locked) await connection.call((host) => host.lock());
    });
    if (!this.#locked) this.#changeLock(true);
  }

  /** Resolves with the answer to the login; when it was accepted, the database is open. */
  async unlock(call: UnlockCall): Promise<UnlockReply> {
    const reply = await this.#throughLockChanges((connection) =>
      connection.call((host) => host.unlock(call)),
    );
    if (reply.status >= 300 || !this.#locked) return reply;
    this.#changeLock(false);
    await this.connect();
    if (this.#locked) throw lockedError();
    return reply;
  }

  /** Another tab may lock or unlock meanwhile, which ends the worker: then the lock is read again. */
  async #throughLockChanges<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const before = this.#lockChanges;
      try {
        return await run(await this.connect());
      } catch (error) {
        if (before === this.#lockChanges || tries >= LOCK_CHANGES_MAX) throw error;
      }
    }
  }

  /** Sent only if a worker is connected: it concerns the state of that worker. */
  async postIfConnected(message: PageMessage): Promise<void> {
    if (this.#current && !this.#closed) (await this.#current).post(message);
  }

  /** Refuses calls from now on, lets the worker finish, and terminates it. */
  async close(how: Ending): Promise<void> {
    if (!this.#closed) this.#ending = { how, done: this.#end(how) };
    else if (how === 'destroy' && this.#ending?.how !== how) throw this.#closed;
    await this.#ending?.done;
  }

  async #end(how: Ending): Promise<void> {
    const connecting = (
      this.#current ?? (how === 'destroy' && !this.isPageKept ? this.connect() : undefined)
    )?.catch(() => undefined);
    const reason = new DatabaseClosed(
      `The database ${JSON.stringify(this.name)} was closed. Open it again.`,
    );
    this.#closed = reason;
    const { signal } = this.#page.inView;
    try {
      // A worker that signOut() has retired is waited for first: the abort below would cut it off too.
      await this.#retiring;
      if (how === 'close' && this.#isStarting) this.#page.inView.abort(reason);
      const connection = await connecting;
      if (connection) await connection.close(how, reason);
      // A database that cannot be opened can still be deleted.
      else if (how === 'destroy') await this.#forget();
    } catch (error) {
      if (!isLeft(signal, error)) throw error;
      // The page was left meanwhile, which ended the worker: the database may not have been deleted.
      if (how === 'destroy') await this.#forget();
    } finally {
      this.#tellClosed(reason);
    }
  }

  async #forget(): Promise<void> {
    if (this.#page.shown) await this.#page.shown;
    await forgetStored(this.name, this.#options.start);
  }

  /** Ends the worker: kept with the page, its locks and transactions would block other tabs. */
  #onLeft(): void {
    const reason = leftError();
    this.#page.inView.abort(reason);
    // An opening under way is repeated when the page is shown.
    if (!this.#isServing || this.#closed) return;
    this.#mustResume = true;
    this.#letGo();
    this.#tellEnded(reason);
  }

  /** The database may have been locked, unlocked or deleted meanwhile: the new worker reports it as an event. */
  #resume(): void {
    if (!this.#mustResume || this.#closed) return;
    this.#mustResume = false;
    // The next call reports a failure.
    this.connect().catch(() => undefined);
  }

  /** Ends the worker with all it has in memory. A new one opens the database, locked or not. */
  #changeLock(isLocked: boolean): void {
    if (this.#closed) return;
    const reason = lockedError();
    this.#lockChanges++;
    this.#secret = '';
    this.#retire(reason);
    this.#letGo();
    this.#tellEnded(reason);
    if (isLocked) this.#setLocked(true);
    // Only who is connected hears of the next change. The call that needs it reports a failure.
    this.connect().catch(() => undefined);
  }

  #retire(reason: Error): void {
    this.#retiring = this.#current?.then(
      (connection) => connection.retire(reason),
      () => undefined,
    );
  }

  /** The next call connects anew. */
  #letGo(): void {
    this.#current = undefined;
    this.#isServing = false;
  }

  #tellEnded(reason: Error): void {
    for (const listener of this.#listeners) listener.onEnded?.(reason);
  }

  #setLocked(isLocked: boolean): void {
    if (this.#locked === isLocked) return;
    this.#locked = isLocked;
    for (const listener of this.#listeners) listener.onLock?.();
  }

  /** Repeated when the page is shown again, if the page was left during it. */
  async #openInView(): Promise<Connection> {
    for (;;) {
      if (this.#page.shown) await this.#page.shown;
      if (this.#closed) throw this.#closed;
      const { signal } = this.#page.inView;
      try {
        return await this.#open(signal);
      } catch (error) {
        if (!isLeft(signal, error)) throw error;
      }
    }
  }

  async #open(signal: AbortSignal): Promise<Connection> {
    const before = this.#lockChanges;
    const { name, start, settings } = this.#options;
    this.#isStarting = true;
    const worker = await startWorker(start, { signal }).finally(() => (this.#isStarting = false));
    const { connection, reply } = await Connection.open(
      worker,
      {
        name,
        settings,
        rootSecret: this.#secret || undefined,
        birth: this.#birth,
        syncSecret: this.syncSecret,
        aliveLock: `${ALIVE}${Math.random()}:${performance.now()}`,
      },
      {
        onMessage: (message) => this.#receive(message),
        onLost: (error) => {
          this.#letGo();
          this.#tellEnded(error);
        },
      },
      signal,
    );
    if (before !== this.#lockChanges) {
      void connection.retire(lockedError());
      throw lockedError();
    }
    if ('deleted' in reply) {
      const reason = this.#onClosed(reply.deleted);
      connection.end(reason);
      throw reason;
    }
    this.#isServing = true;
    this.#retryMs = RETRY_MS;
    this.#birth = reply.birth;
    this.#secret = reply.rootSecret ?? '';
    this.#lastLoss = reply.loss && lossReport(reply.loss);
    this.#lastPersistence = reply.persistence;
    this.#setLocked(reply.rootSecret === undefined);
    if (this.#opened++ > 0) for (const listener of this.#listeners) listener.onRenewed?.();
    return connection;
  }

  #receive(message: WorkerMessage): void {
    if (message.type === 'locked') this.#changeLock(true);
    else if (message.type === 'unlocked') this.#changeLock(false);
    if (message.type === 'closed') this.#onClosed(message.description);
    else for (const listener of this.#listeners) listener.onMessage?.(message);
  }

  /** The worker has closed the database: it was deleted, or a newer build upgraded it. Returns the error of all calls from now on. */
  #onClosed(description: string): Error {
    // Closed by this page already: that goes on.
    if (this.#closed) return this.#closed;
    const reason = (this.#closed = refusalError('storage_unavailable', description));
    this.#retire(reason);
    this.#tellClosed(reason);
    return reason;
  }

  /** Once: the last that listeners hear. */
  #tellClosed(reason: DatabaseClosed | QueryError): void {
    this.#page.stop();
    this.#tellEnded(reason);
    const { description } = reason;
    for (const listener of this.#listeners) listener.onMessage?.({ type: 'closed', description });
  }
}

const leftError = (): QueryError =>
  refusalError(
    'worker_lost',
    'The page was left before the answer, so its database worker was ended. It is unknown whether pending queries took effect. The next call starts a new worker.',
  );

/** The same text as the worker's. */
export const lockedError = (): QueryError =>
  refusalError(
    'locked',
    'The database is locked because its user has signed out. Unlock it with db.unlock({ secret }) or db.unlock({ user, password }).',
  );
