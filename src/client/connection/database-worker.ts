import type { HostApi, PageMessage, Reply, WorkerMessage } from '../../host/api.ts';
import type { OpenedDatabase, UnlockCall, UnlockReply } from '../../host/open.ts';
import type { Settings } from '../../host/settings.ts';
import type { Persistence } from '../../states.ts';
import { Connection, type Ending } from './connection.ts';
import { DatabaseClosed, refusalError, type QueryError } from '../errors.ts';
import { lossReport, type LossReport } from './loss-report.ts';
import { ALIVE } from './clean-shutdown.ts';
import { isLeft, PageCache } from './page-cache.ts';
import { Restarts } from './restarts.ts';
import { startWorker } from './start-worker.ts';
import { forgetStored } from './stored-calls.ts';
import { WorkerEvents } from './worker-events.ts';
import type { Remote } from 'comlink';

/** How often the database may be locked or unlocked during one call before the call fails. */
const LOCK_CHANGES_MAX = 3;

/** A stored database, and the settings with which it is opened. */
export interface StoredDatabase {
  /** Its name in the browser's storage. */
  readonly name: string;
  readonly settings: Settings;
}

export interface DatabaseWorkerOptions extends StoredDatabase {
  /** Starts a worker in place of the default one. */
  readonly start: (() => Worker) | undefined;
}

type Host = Remote<HostApi<MessagePort>>;
export type HostCall<T> = (host: Host, number?: number) => Promise<Reply<T>>;

/**
 * The worker of one open database, for the page. A worker that is lost is replaced at the next call, so this object stays valid until
 * the database is closed or deleted.
 */
export class DatabaseWorker extends WorkerEvents {
  /** Secret of the clients of the synced identity. It stays valid when the worker is replaced. */
  syncSecret: string | undefined = undefined;
  readonly #options: DatabaseWorkerOptions;
  readonly #restarts = new Restarts();
  #current: Promise<Connection> | undefined = undefined;
  /** Whether a worker is loading. It has not opened anything yet. */
  #isStarting = false;
  /** Whether `current` has resolved. */
  #isServing = false;
  #closed: Error | undefined = undefined;
  /** Of the first `close()`. */
  #ending: { readonly how: Ending; readonly done: Promise<void> } | undefined = undefined;
  /** The last worker's description of the database; empty until one has opened it. Private, because error reporters must not show its secret. */
  #opened: Partial<OpenedDatabase> = {};
  /** Counts locking and unlocking: calls begun before are not answered after. */
  #lockChanges = 0;
  readonly #page: PageCache;
  #lastCall = 0;
  /** Resolves when the last worker that was retired has ended. */
  #retiring: Promise<void> | undefined = undefined;

  constructor(options: DatabaseWorkerOptions) {
    super();
    this.#options = options;
    this.#page = new PageCache({
      onKept: () => this.#onLeft(),
      onShown: () => this.#resume(),
    });
  }

  get stored(): StoredDatabase {
    return this.#options;
  }

  /** The reason why the database can no longer be used; undefined while it can. */
  get closed(): Error | undefined {
    return this.#closed;
  }

  /** Empty while the database is locked. */
  get rootSecret(): string {
    return this.#opened.rootSecret ?? '';
  }

  /** Whether its user has signed out: the worker then gives no secret. */
  get isLocked(): boolean {
    const { birth, rootSecret } = this.#opened;
    return birth !== undefined && rootSecret === undefined;
  }

  /** Loss of data that was found when the database was last opened. */
  get loss(): LossReport | undefined {
    return this.#opened.loss && lossReport(this.#opened.loss);
  }

  get persistence(): Persistence {
    return this.#opened.persistence ?? 'none';
  }

  async acknowledgeLoss(): Promise<void> {
    await this.call((host) => host.acknowledgeLoss());
    this.#opened = { ...this.#opened, loss: undefined };
  }

  /** Starts a worker that opens the database, unless one is connected or connecting. */
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

  /** Tries again without being asked, for live queries and sync: the worker's script may only have failed to load without a network. */
  #retryLater(): void {
    // A database that was never opened is not retried, because `openDatabase()` rejects.
    if (this.#opened.birth === undefined || this.#closed) return;
    this.#restarts.retryLater(() => void this.connect().catch(() => undefined));
  }

  /** Replaces a lost worker. @throws `reason`, the error of the loss, if workers are lost in quick succession */
  async replace(reason: Error): Promise<void> {
    // When the page was left, its worker was ended on purpose, and another one is started when the page is shown again.
    if (!this.#current && !this.#page.isKept && !this.#restarts.mayReplace()) throw reason;
    await this.connect();
  }

  /** Opens the database for the first time. */
  async start(): Promise<void> {
    try {
      await this.#throughLockChanges(() => Promise.resolve());
    } catch (error) {
      this.#page.stop();
      throw error;
    }
  }

  /**
   * @param run makes the call; its `number` identifies a call with a signal at the worker
   * @param signal ends the call with the signal's reason, unless the worker has already carried it out
   */
  call<T>(run: HostCall<T>, signal?: AbortSignal): Promise<T> {
    return signal ? this.#callUntil(signal, run) : this.#send(run);
  }

  async #send<T>(run: HostCall<T>): Promise<T> {
    const connection = await this.connect();
    return connection.call(run).catch((error: QueryError) => {
      // If this page has closed the database, its own error says what to do; the worker's does not.
      throw (error.code === 'storage_unavailable' && this.#closed) || error;
    });
  }

  #callUntil<T>(signal: AbortSignal, run: HostCall<T>): Promise<T> {
    const number = ++this.#lastCall;
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

  /** Makes a call that changes nothing. It is repeated if the page was left during the call. */
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

  /** Sends a message as soon as a worker is connected. @param message makes it then */
  async post(message: () => PageMessage): Promise<void> {
    const connection = await this.connect();
    if (this.isLocked) throw lockedError();
    connection.post(message());
  }

  /** Locks the database in all tabs. Pending calls are rejected with `lockedError()`. */
  async lock(): Promise<void> {
    await this.#throughLockChanges(async (connection) => {
      if (!this.isLocked) await connection.call((host) => host.lock());
    });
    if (!this.isLocked) this.#changeLock();
  }

  /** Resolves with the answer to the login. If the login was accepted, the database is open by then. */
  async unlock(call: UnlockCall): Promise<UnlockReply> {
    const reply = await this.#throughLockChanges((connection) =>
      connection.call((host) => host.unlock(call)),
    );
    if (reply.status >= 300 || !this.isLocked) return reply;
    this.#changeLock();
    await this.connect();
    if (this.isLocked) throw lockedError();
    return reply;
  }

  /** Repeats `run` if another tab has locked or unlocked the database meanwhile, because that ends the worker. */
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

  /** Sends a message that concerns only the state of the present worker, and so is dropped if there is none. */
  async postIfConnected(message: PageMessage): Promise<void> {
    if (this.#current) (await this.#current).post(message);
  }

  /** Refuses calls from now on, lets the worker finish, and terminates it. */
  async close(how: Ending): Promise<void> {
    if (!this.#closed) this.#ending = { how, done: this.#end(how) };
    else if (how === 'destroy' && this.#ending?.how !== how) throw this.#closed;
    await this.#ending?.done;
  }

  async #end(how: Ending): Promise<void> {
    const connecting = (
      this.#current ?? (how === 'destroy' && !this.#page.isKept ? this.connect() : undefined)
    )?.catch(() => undefined);
    const name = JSON.stringify(this.#options.name);
    const reason = new DatabaseClosed(`The database ${name} was closed. Open it again.`);
    this.#closed = reason;
    const { signal } = this.#page.inView;
    try {
      // First wait for a worker that `lock()` has retired, because the abort below would also end it.
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
    await this.#page.shown;
    await forgetStored(this.#options.name, this.#options.start);
  }

  /** Ends the worker, because its locks and transactions would block other tabs while the browser caches the page. */
  #onLeft(): void {
    const reason = leftError();
    this.#page.inView.abort(reason);
    // If a worker is still opening the database, that is repeated when the page is shown.
    if (!this.#isServing || this.#closed) return;
    this.#letGo(reason);
  }

  /** The database may have been locked, unlocked or deleted meanwhile: the new worker reports it as an event. */
  #resume(): void {
    // The first opening goes on by itself.
    if (this.#opened.birth === undefined || this.#closed) return;
    // A failure is reported by the next call.
    this.connect().catch(() => undefined);
  }

  /** Ends the worker, so that nothing it has in memory outlives the session. A new one opens the database. */
  #changeLock(): void {
    if (this.#closed) return;
    const reason = lockedError();
    const wasLocked = this.isLocked;
    this.#lockChanges++;
    this.#opened = { ...this.#opened, rootSecret: undefined };
    this.#retire(reason);
    this.#letGo(reason);
    if (!wasLocked) this.tell((each) => each.onLock?.());
    // Connects at once, because only a worker reports the next change. A failure is reported by the next call.
    this.connect().catch(() => undefined);
  }

  #retire(reason: Error): void {
    this.#retiring = this.#current?.then(
      (connection) => connection.retire(reason),
      () => undefined,
    );
  }

  /** Forgets the worker, which has ended or will: the next call starts another one. */
  #letGo(reason: Error): void {
    this.#current = undefined;
    this.#isServing = false;
    this.tell((each) => each.onEnded?.(reason));
  }

  /** Opens the database while the page is shown; again if the page was left meanwhile. */
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
        rootSecret: this.#opened.rootSecret,
        birth: this.#opened.birth,
        syncSecret: this.syncSecret,
        aliveLock: `${ALIVE}${Math.random()}:${performance.now()}`,
      },
      {
        onMessage: (message) => this.#receive(message),
        onLost: (error) => this.#letGo(error),
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
    const wasLocked = this.isLocked;
    const isRenewed = this.#opened.birth !== undefined;
    this.#isServing = true;
    this.#restarts.succeeded();
    this.#opened = reply;
    if (this.isLocked !== wasLocked) this.tell((each) => each.onLock?.());
    if (isRenewed) this.tell((each) => each.onRenewed?.());
    return connection;
  }

  #receive(message: WorkerMessage): void {
    if (message.type === 'locked' || message.type === 'unlocked') this.#changeLock();
    if (message.type === 'closed') this.#onClosed(message.description);
    else this.tell((each) => each.onMessage?.(message));
  }

  /** Called when the worker has closed the database, which was deleted or upgraded by a newer build. Returns the error of all further calls. */
  #onClosed(description: string): Error {
    // This page is closing the database already.
    if (this.#closed) return this.#closed;
    const reason = (this.#closed = refusalError('storage_unavailable', description));
    this.#retire(reason);
    this.#tellClosed(reason);
    return reason;
  }

  /** Sends listeners their last events. Called once. */
  #tellClosed(reason: DatabaseClosed | QueryError): void {
    this.#page.stop();
    this.tell((each) => each.onEnded?.(reason));
    const { description } = reason;
    this.tell((each) => each.onMessage?.({ type: 'closed', description }));
  }
}

const leftError = (): QueryError =>
  refusalError(
    'worker_lost',
    'The page was left before the answer. It is unknown whether pending queries took effect. The next call starts a new worker.',
  );

/** The same text as the worker's. */
export const lockedError = (): QueryError =>
  refusalError(
    'locked',
    'The database is locked because its user has signed out. Unlock it with db.unlock({ secret }) or db.unlock({ user, password }).',
  );
