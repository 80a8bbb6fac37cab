import type { HostApi, PageMessage, Reply, WorkerMessage } from '../../host/api.ts';
import type { UnlockCall, UnlockReply } from '../../host/open.ts';
import type { Settings } from '../../host/settings.ts';
import type { Persistence } from '../../states.ts';
import { Connection } from './connection.ts';
import { DatabaseClosed, refusalError, type QueryError } from '../errors.ts';
import { lossReport, type LossReport } from './loss-report.ts';
import { isLeft, PageCache } from './page-cache.ts';
import { startWorker } from './start-worker.ts';
import type { Remote } from 'comlink';

/** Of the lock, amid one call. */
const TURNS_MAX = 3;

export interface LinkOptions {
  /** Under which it is stored. */
  readonly name: string;
  readonly start: (() => Worker) | undefined;
  readonly settings: Settings;
}

/** Who hears of what comes unasked. */
export interface LinkListener {
  onMessage?(message: WorkerMessage): void;
  /** The lock was turned: `isLocked` says how. */
  onLock?(): void;
  /** A new worker serves the database: what the old one kept must be said again. */
  onRenewed?(): void;
  /** The worker is gone, or the database was closed: nothing more comes from it. `isPageKept`: another one comes when the page is shown. */
  onEnded?(reason: Error): void;
}

const CLOSE_MS = 10_000;

type HostCall<T> = (host: Remote<HostApi<MessagePort>>) => Promise<Reply<T>>;

/** The way to the worker of one open database. A lost worker is replaced at the next call. */
export class Link {
  readonly name: string;
  private readonly options: LinkOptions;
  private readonly listeners = new Set<LinkListener>();
  private current: Promise<Connection> | undefined = undefined;
  /** `current` is there, not only on its way. */
  private isServing = false;
  /** A worker served when the page was left. */
  private mustResume = false;
  private closed: Error | undefined = undefined;
  /** Not a member that an error reporter or a console would show. */
  #secret = '';
  private birth: string | undefined = undefined;
  #syncSecret: string | undefined = undefined;
  private lastLoss: LossReport | undefined = undefined;
  private lastPersistence: Persistence = 'none';
  private opened = 0;
  private locked = false;
  /** How often the lock was turned: what was begun before is not for after. */
  private turns = 0;
  private readonly page: PageCache;

  constructor(options: LinkOptions) {
    this.name = options.name;
    this.options = options;
    this.page = new PageCache({
      onKept: () => this.noteLeft(),
      onShown: () => this.resume(),
      reason: leftError,
    });
  }

  /** The page is in the back/forward cache of the browser: what is asked now waits until it is shown again. */
  get isPageKept(): boolean {
    return this.page.isKept;
  }

  /** Of clients of the synced identity: stays good when a worker is replaced. */
  get syncSecret(): string | undefined {
    return this.#syncSecret;
  }

  set syncSecret(secret: string | undefined) {
    this.#syncSecret = secret;
  }

  get rootSecret(): string {
    return this.#secret;
  }

  /** Since its user signed out. */
  get isLocked(): boolean {
    return this.locked;
  }

  /** Data that was found missing when the database was last opened. */
  get loss(): LossReport | undefined {
    return this.lastLoss;
  }

  get persistence(): Persistence {
    return this.lastPersistence;
  }

  async acknowledgeLoss(): Promise<void> {
    await this.call((host) => host.acknowledgeLoss());
    this.lastLoss = undefined;
  }

  listen(listener: LinkListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Opens the database, again when its worker was lost. */
  connect(): Promise<Connection> {
    if (this.closed) return Promise.reject(this.closed);
    if (this.current) return this.current;
    const opening = this.openInView().catch((error: unknown) => {
      if (this.current === opening) this.current = undefined;
      throw error;
    });
    this.current = opening;
    return opening;
  }

  /** The first time. */
  async start(): Promise<void> {
    try {
      await this.overTurns(() => Promise.resolve());
    } catch (error) {
      this.page.stop();
      throw error;
    }
  }

  async call<T>(run: HostCall<T>): Promise<T> {
    const connection = await this.connect();
    return connection.call(run);
  }

  /** A call that changes nothing: asked again when the page was left amid it. */
  async ask<T>(run: HostCall<T>): Promise<T> {
    for (;;) {
      const { signal } = this.page;
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
    if (this.locked) throw lockedError();
    connection.post(message);
  }

  /** Ends the session in all tabs. Whoever still waits for an answer gets `lockedError()`. */
  async lock(): Promise<void> {
    await this.overTurns(async (connection) => {
      if (!this.locked) await connection.call((host) => host.lock());
    });
    if (!this.locked) this.turn(true);
  }

  /** Resolves with what the login was answered; when it was accepted, the database is open. */
  async unlock(call: UnlockCall): Promise<UnlockReply> {
    const reply = await this.overTurns((connection) =>
      connection.call((host) => host.unlock(call)),
    );
    if (reply.status >= 300 || !this.locked) return reply;
    this.turn(false);
    await this.connect();
    if (this.locked) throw lockedError();
    return reply;
  }

  /** Another tab may turn the lock meanwhile, which ends the worker: then it is looked at anew. */
  private async overTurns<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const { turns } = this;
      try {
        return await run(await this.connect());
      } catch (error) {
        if (turns === this.turns || tries >= TURNS_MAX) throw error;
      }
    }
  }

  /** Sent only if a worker is there: it is about what that worker keeps. */
  async postIfConnected(message: PageMessage): Promise<void> {
    if (this.current && !this.closed) (await this.current).post(message);
  }

  /** Refuses calls from now on, lets the worker finish, and ends it. */
  async close(how: 'close' | 'destroy', deadlineMs = CLOSE_MS): Promise<void> {
    if (this.closed) return;
    const connecting =
      this.current ?? (how === 'destroy' && !this.isPageKept ? this.connect() : undefined);
    const reason = new DatabaseClosed(
      `The database ${JSON.stringify(this.name)} was closed. Open it again with openDatabase().`,
    );
    this.closed = reason;
    const { signal } = this.page;
    try {
      const connection = await connecting?.catch(() => undefined);
      if (connection) await this.closeConnection(connection, how, reason, deadlineMs);
      // What cannot be opened can still be deleted.
      else if (how === 'destroy') await this.forget();
    } catch (error) {
      if (!isLeft(signal, error)) throw error;
      // The page was left meanwhile, which ended the worker: what was to be destroyed may still be there.
      if (how === 'destroy') await this.forget();
    } finally {
      this.page.stop();
    }
  }

  private async closeConnection(
    connection: Connection,
    how: 'close' | 'destroy',
    reason: Error,
    deadlineMs: number,
  ): Promise<void> {
    const late = setTimeout(() => connection.end(reason), deadlineMs);
    try {
      await connection.call((host) => host[how]());
    } catch (error) {
      // Ended by the deadline: closed all the same. What was to be destroyed may still be there.
      if (how === 'destroy' || error !== reason) throw error;
    } finally {
      clearTimeout(late);
      connection.end(reason);
      for (const listener of this.listeners) listener.onEnded?.(reason);
    }
  }

  private async forget(): Promise<void> {
    if (this.page.shown) await this.page.shown;
    await forgetStored(this.name, this.options.start);
  }

  /** The worker is gone: kept with the page, it would block others by its locks and transactions. */
  private noteLeft(): void {
    // What was being opened is opened when the page is shown.
    if (!this.isServing || this.closed) return;
    const reason = leftError();
    this.isServing = false;
    this.current = undefined;
    this.mustResume = true;
    for (const listener of this.listeners) listener.onEnded?.(reason);
  }

  /** The lock may have been turned meanwhile, or the database deleted: that is heard of unasked. */
  private resume(): void {
    if (!this.mustResume || this.closed) return;
    this.mustResume = false;
    // Who asks hears of a failure.
    this.connect().catch(() => undefined);
  }

  /** What a worker had in memory goes with it. Another one opens the database, as its lock then is. */
  private turn(isLocked: boolean): void {
    if (this.closed) return;
    const { current } = this;
    const reason = lockedError();
    this.turns++;
    this.current = undefined;
    this.isServing = false;
    this.#secret = '';
    current?.then(
      (connection) => connection.retire(reason),
      () => undefined,
    );
    for (const listener of this.listeners) listener.onEnded?.(reason);
    if (isLocked) this.setLocked(true);
  }

  private setLocked(isLocked: boolean): void {
    if (this.locked === isLocked) return;
    this.locked = isLocked;
    for (const listener of this.listeners) listener.onLock?.();
  }

  /** When the page is left amid it, it is begun anew when the page is shown. */
  private async openInView(): Promise<Connection> {
    for (;;) {
      if (this.page.shown) await this.page.shown;
      if (this.closed) throw this.closed;
      const { signal } = this.page;
      try {
        return await this.open(signal);
      } catch (error) {
        if (!isLeft(signal, error)) throw error;
      }
    }
  }

  private async open(signal: AbortSignal): Promise<Connection> {
    const { turns } = this;
    const { name, start, settings } = this.options;
    const worker = await startWorker(start, { signal });
    const { connection, reply } = await Connection.open(
      worker,
      {
        name,
        settings,
        rootSecret: this.#secret || undefined,
        birth: this.birth,
        syncSecret: this.syncSecret,
        aliveLock: `burrow:alive:${Math.random()}:${performance.now()}`,
      },
      {
        onMessage: (message) => this.receive(message),
        onLost: (error) => {
          this.current = undefined;
          this.isServing = false;
          for (const listener of this.listeners) listener.onEnded?.(error);
        },
      },
      signal,
    );
    if (turns !== this.turns) {
      void connection.retire(lockedError());
      throw lockedError();
    }
    if ('deleted' in reply) {
      const reason = this.noteClosed(reply.deleted);
      connection.end(reason);
      throw reason;
    }
    this.isServing = true;
    this.birth = reply.birth;
    this.#secret = reply.rootSecret ?? '';
    this.lastLoss = reply.loss && lossReport(reply.loss);
    this.lastPersistence = reply.persistence;
    this.setLocked(reply.rootSecret === undefined);
    if (this.opened++ > 0) for (const listener of this.listeners) listener.onRenewed?.();
    return connection;
  }

  private receive(message: WorkerMessage): void {
    if (message.type === 'locked') this.turn(true);
    else if (message.type === 'unlocked') {
      this.turn(false);
      // Its secret is wanted before it is asked for; who asks anyway hears of a failure.
      this.connect().catch(() => undefined);
    }
    if (message.type === 'closed') this.noteClosed(message.description);
    else for (const listener of this.listeners) listener.onMessage?.(message);
  }

  /** The database was taken away. Returns what callers get from now on. */
  private noteClosed(description: string): Error {
    const reason = refusalError('storage_unavailable', description);
    this.closed = reason;
    this.page.stop();
    this.current?.then(
      (connection) => connection.retire(reason),
      () => undefined,
    );
    for (const listener of this.listeners) listener.onEnded?.(reason);
    for (const listener of this.listeners) listener.onMessage?.({ type: 'closed', description });
    return reason;
  }
}

/** Deletes what is stored under a name that this page has not opened. */
export async function forgetStored(name: string, start: LinkOptions['start']): Promise<void> {
  await Connection.forget(await startWorker(start), name);
}

const leftError = (): QueryError =>
  refusalError(
    'worker_lost',
    'The page was left before the answer, so its database worker was ended. It is unknown whether pending queries took effect. The next call starts a new worker.',
  );

/** The same words as the worker's. */
export const lockedError = (): QueryError =>
  refusalError(
    'locked',
    'The database is locked because its user has signed out. Unlock it with db.unlock({ secret }) or db.unlock({ user, password }).',
  );
