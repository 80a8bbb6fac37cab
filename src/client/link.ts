import {
  PROTOCOL,
  type HostApi,
  type LogOptions,
  type LossReport,
  type Persistence,
  type PageMessage,
  type Reply,
  type WorkerMessage,
} from '../host/api.ts';
import { Connection } from './connection.ts';
import { BurrowError } from './errors.ts';
import { startWorker } from './start-worker.ts';
import type { Remote } from 'comlink';

export interface LinkOptions {
  readonly name: string;
  readonly start: (() => Worker) | undefined;
  readonly durability: 'strict' | 'relaxed';
  readonly hashCost: number;
  readonly log: LogOptions;
}

/** Who hears of what comes unasked. */
export interface LinkListener {
  onMessage?(message: WorkerMessage): void;
  /** A new worker serves the database: what the old one kept must be said again. */
  onRenewed?(): void;
  /** The worker is gone, or the database was closed: nothing more comes from it. */
  onEnded?(reason: Error): void;
}

/** The way to the worker of one open database. A lost worker is replaced at the next call. */
export class Link {
  readonly name: string;
  private readonly options: LinkOptions;
  private readonly listeners = new Set<LinkListener>();
  private current: Promise<Connection> | undefined = undefined;
  private closed: Error | undefined = undefined;
  private secret = '';
  private lastLoss: LossReport | undefined = undefined;
  private lastPersistence: Persistence = 'none';
  private opened = 0;

  constructor(options: LinkOptions) {
    this.name = options.name;
    this.options = options;
  }

  get rootSecret(): string {
    return this.secret;
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
    this.current ??= this.open().catch((error: unknown) => {
      this.current = undefined;
      throw error;
    });
    return this.current;
  }

  async call<T>(run: (host: Remote<HostApi<MessagePort>>) => Promise<Reply<T>>): Promise<T> {
    const connection = await this.connect();
    return connection.call(run);
  }

  /** Sent when connected. */
  async post(message: PageMessage): Promise<void> {
    (await this.connect()).post(message);
  }

  /** Sent only if a worker is there: it is about what that worker keeps. */
  async postIfConnected(message: PageMessage): Promise<void> {
    if (this.current && !this.closed) (await this.current).post(message);
  }

  /** Refuses calls from now on, lets the worker finish, and ends it. */
  async close(how: 'close' | 'destroy', deadlineMs: number): Promise<void> {
    if (this.closed) return;
    const connecting = this.current ?? (how === 'destroy' ? this.connect() : undefined);
    const reason = new BurrowError(
      `The database ${JSON.stringify(this.name)} was closed. Open it again with openDatabase().`,
    );
    this.closed = reason;
    const connection = await connecting?.catch(() => undefined);
    if (!connection) return;
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

  private async open(): Promise<Connection> {
    const { name, start, durability, hashCost, log } = this.options;
    const worker = await startWorker(start);
    const { connection, reply } = await Connection.open(
      worker,
      {
        protocol: PROTOCOL,
        name,
        durability,
        hashCost,
        log,
        rootSecret: this.secret || undefined,
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
    this.secret = reply.rootSecret;
    this.lastLoss = reply.loss;
    this.lastPersistence = reply.persistence;
    if (this.opened++ > 0) for (const listener of this.listeners) listener.onRenewed?.();
    return connection;
  }

  private receive(message: WorkerMessage): void {
    if (message.type === 'closed') {
      const reason = new BurrowError(message.description);
      this.closed = reason;
      void this.current?.then((connection) => connection.end(reason));
      for (const listener of this.listeners) listener.onEnded?.(reason);
    }
    for (const listener of this.listeners) listener.onMessage?.(message);
  }
}
