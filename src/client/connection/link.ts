import type { HostApi, PageMessage, Reply, WorkerMessage } from '../../host/api.ts';
import type { LogOptions } from '../../host/log.ts';
import { type LossReport, PROTOCOL, type UnlockCall, type UnlockReply } from '../../host/open.ts';
import type { Persistence } from '../../states.ts';
import { Connection } from './connection.ts';
import { DatabaseClosed, refusalError, type QueryError } from '../errors.ts';
import { startWorker } from './start-worker.ts';
import type { Remote } from 'comlink';

/** Of the lock, amid one call. */
const TURNS_MAX = 3;

export interface LinkOptions {
  /** Under which it is stored. */
  readonly name: string;
  readonly start: (() => Worker) | undefined;
  readonly durability: 'strict' | 'relaxed';
  readonly hashCost: number;
  readonly audience: string | undefined;
  readonly log: LogOptions;
}

/** Who hears of what comes unasked. */
export interface LinkListener {
  onMessage?(message: WorkerMessage): void;
  /** The lock was turned: `isLocked` says how. */
  onLock?(): void;
  /** A new worker serves the database: what the old one kept must be said again. */
  onRenewed?(): void;
  /** The worker is gone, or the database was closed: nothing more comes from it. */
  onEnded?(reason: Error): void;
}

const CLOSE_MS = 10_000;

/** The way to the worker of one open database. A lost worker is replaced at the next call. */
export class Link {
  readonly name: string;
  private readonly options: LinkOptions;
  private readonly listeners = new Set<LinkListener>();
  private current: Promise<Connection> | undefined = undefined;
  private closed: Error | undefined = undefined;
  private secret = '';
  /** Of clients of the synced identity: stays good when a worker is replaced. */
  syncSecret: string | undefined = undefined;
  private lastLoss: LossReport | undefined = undefined;
  private lastPersistence: Persistence = 'none';
  private opened = 0;
  private locked = false;
  /** How often the lock was turned: what was begun before is not for after. */
  private turns = 0;

  constructor(options: LinkOptions) {
    this.name = options.name;
    this.options = options;
  }

  get rootSecret(): string {
    return this.secret;
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
    const opening = this.open().catch((error: unknown) => {
      if (this.current === opening) this.current = undefined;
      throw error;
    });
    this.current = opening;
    return opening;
  }

  /** The first time. */
  async start(): Promise<void> {
    await this.overTurns(() => Promise.resolve());
  }

  async call<T>(run: (host: Remote<HostApi<MessagePort>>) => Promise<Reply<T>>): Promise<T> {
    const connection = await this.connect();
    return connection.call(run);
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
    const connecting = this.current ?? (how === 'destroy' ? this.connect() : undefined);
    const reason = new DatabaseClosed(
      `The database ${JSON.stringify(this.name)} was closed. Open it again with openDatabase().`,
    );
    this.closed = reason;
    const connection = await connecting?.catch(() => undefined);
    if (!connection) {
      // What cannot be opened can still be deleted.
      if (how === 'destroy') await forgetStored(this.name, this.options.start);
      return;
    }
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

  /** What a worker had in memory goes with it. Another one opens the database, as its lock then is. */
  private turn(isLocked: boolean): void {
    if (this.closed) return;
    const { current } = this;
    const reason = lockedError();
    this.turns++;
    this.current = undefined;
    this.secret = '';
    void current?.then(
      (connection) => connection.end(reason),
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

  private async open(): Promise<Connection> {
    const { turns } = this;
    const { name, start, durability, hashCost, audience, log } = this.options;
    const worker = await startWorker(start);
    const { connection, reply } = await Connection.open(
      worker,
      {
        protocol: PROTOCOL,
        name,
        durability,
        hashCost,
        audience,
        log,
        rootSecret: this.secret || undefined,
        syncSecret: this.syncSecret,
        aliveLock: `burrow:alive:${Math.random()}:${performance.now()}`,
      },
      {
        onMessage: (message) => this.receive(message),
        onLost: (error) => {
          this.current = undefined;
          for (const listener of this.listeners) listener.onEnded?.(error);
        },
      },
    );
    if (turns !== this.turns) {
      connection.end(lockedError());
      throw lockedError();
    }
    this.secret = reply.rootSecret ?? '';
    this.lastLoss = reply.loss;
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
    if (message.type === 'closed') {
      const reason = refusalError('storage_unavailable', message.description);
      this.closed = reason;
      void this.current?.then((connection) => connection.end(reason));
      for (const listener of this.listeners) listener.onEnded?.(reason);
    }
    for (const listener of this.listeners) listener.onMessage?.(message);
  }
}

/** Deletes what is stored under a name that this page has not opened. */
export async function forgetStored(name: string, start: LinkOptions['start']): Promise<void> {
  await Connection.forget(await startWorker(start), name);
}

/** The same words as the worker's. */
export const lockedError = (): QueryError =>
  refusalError(
    'locked',
    'The database is locked because its user has signed out. Unlock it with db.unlock({ secret }) or db.unlock({ user, password }).',
  );
