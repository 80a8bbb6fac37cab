import type { ProgressMessage, WorkerMessage } from '../host/api.ts';
import { flag, option, optional, text, type OptionRow } from '../host/options.ts';
import type { HttpCall, HttpReply, QueryReply } from '../host/query.ts';
import type { Persistence } from '../states.ts';
import {
  makeClient,
  valueOf,
  type Client,
  type ClientHost,
  type QueryOptions,
} from './queries/client.ts';
import { refusalError, type QueryError } from './errors.ts';
import { Files } from './files/files.ts';
import { fetchFrom, type BurrowFetch } from './fetch.ts';
import {
  lockedError,
  type DatabaseWorker,
  type StoredDatabase,
} from './connection/database-worker.ts';
import type { LossReport } from './connection/loss-report.ts';
import { unlockCall, type Login } from './login.ts';
import { Logs } from './logs/logs.ts';
import { readOptions } from './read-options.ts';
import { requireSecure } from './require-secure.ts';
import { answerOffers } from './connection/service-offers.ts';
import { isPlain } from './queries/is-plain.ts';
import { Streams } from './live/streams.ts';
import { Subscriptions } from './live/subscriptions.ts';
import { checkSyncOptions, type SyncOptions } from './sync/sync-options.ts';
import { Sync } from './sync/sync.ts';
import { TypedEvents } from './typed-events.ts';

/** Progress of an index build, of `verify()`, or of moving the stored data into another layout. */
export type Progress = Omit<ProgressMessage, 'type'>;

/** @internal */
export const progressOf = ({ task, name, done, isComplete }: ProgressMessage): Progress => ({
  task,
  name,
  done,
  isComplete,
});

export interface DatabaseEvents {
  /** Progress of an index build or of `verify()`. */
  progress: CustomEvent<Progress>;
  /** The worker was lost, and the worker that replaced it found data missing. */
  loss: CustomEvent<LossReport>;
  /** The user has signed out, here or in another tab. Everything that was running has failed with the code `locked`. */
  locked: CustomEvent<undefined>;
  /** The database can be used again, with a new root secret. */
  unlocked: CustomEvent<undefined>;
  /** This object can no longer be used. `detail` says why. */
  closed: CustomEvent<string>;
}

export interface SignOutOptions {
  /** Closes the database and deletes all its data on this device. */
  readonly forget?: boolean;
  /** With `forget`: also deletes writes and files that have not reached a hub yet. */
  readonly discardUnsent?: boolean;
}

const SIGN_OUT_OPTIONS = {
  forget: option(flag, false),
  discardUnsent: option(flag, false),
} satisfies Record<keyof SignOutOptions, OptionRow>;

const CLIENT_OPTIONS = {
  secret: optional({
    ...text,
    expected: 'a secret: without it, the client is the admin',
    isSecret: true,
    isWhose: true,
  }),
} satisfies Record<string, OptionRow>;

export const unsentError = (count: number): QueryError =>
  refusalError(
    'unsent_writes',
    `${count} write(s) or file(s) have not reached the hub. Connect to send them, or discard them with { discardUnsent: true }.`,
  );

/** Tags in the format that the worker reads. Separators inside a name or a value become `?`, which the worker refuses as 'invalid tags'. */
const tagsText = (tags: object): string =>
  isPlain(tags)
    ? Object.entries(tags)
        .map((pair) => pair.map((part) => String(part).replace(/[,=]/g, '?')).join('='))
        .join(',')
    : '?';

/**
 * An open database.
 * @example
 * db.addEventListener('locked', () => console.log('Signed out.'));
 * console.log(await db.client().query(q.Count(q.Documents(notes)))); // 2
 * await db.close();
 */
export class Database extends TypedEvents<DatabaseEvents> {
  readonly name: string;
  /** The HTTP API of the database as a `fetch` function, for the original driver: `new faunadb.Client({ secret, fetch: db.fetch })`. */
  readonly fetch: BurrowFetch;
  readonly logs: Logs;
  /** Photos and other files that documents refer to. */
  readonly files: Files;
  readonly #worker: DatabaseWorker;
  readonly #subscriptions: Subscriptions;
  #mayAskToPersist: boolean;
  readonly #stopOffers: () => void;
  #synced: Sync | undefined = undefined;

  /** @internal */
  constructor(
    worker: DatabaseWorker,
    options: { readonly name: string; readonly persist: boolean },
  ) {
    super();
    this.name = options.name;
    this.#worker = worker;
    this.#mayAskToPersist = options.persist;
    this.#subscriptions = new Subscriptions(worker);
    this.files = new Files(worker);
    const streams = new Streams(worker);
    const http = (call: HttpCall): Promise<HttpReply> => worker.call((host) => host.http(call));
    const openStream = (stream: number, onEnd?: () => void) => streams.open(stream, onEnd);
    const abortStream = (stream: number, reason: unknown) => streams.abort(stream, reason);
    this.#stopOffers = answerOffers({ name: options.name, http, openStream });
    this.logs = new Logs({
      http,
      logFile: (id, version) => worker.ask((host) => host.logFile(id, version)),
      rootSecret: () => worker.rootSecret,
    });
    this.fetch = fetchFrom({ http: (call) => this.logs.http(call), openStream, abortStream });
    worker.listen({
      onMessage: (message) => this.#emit(message),
      onLock: () => this.#emitLock(),
      onRenewed: () => this.#emitLoss(),
    });
  }

  /** @internal Where the database is stored, and the settings it is opened with. */
  get stored(): StoredDatabase {
    return this.#worker.stored;
  }

  /** @internal The reason why the database can no longer be used; undefined while it can. */
  get closed(): Error | undefined {
    return this.#worker.closed;
  }

  /** A secret with all rights in this database. Do not let it leave the page. @throws DatabaseClosed, DatabaseLocked */
  get rootSecret(): string {
    if (this.closed) throw this.closed;
    if (this.isLocked) throw lockedError();
    return this.#worker.rootSecret;
  }

  /** Whether the user has signed out. Nothing in a locked database can be read until it is unlocked. */
  get isLocked(): boolean {
    return this.#worker.isLocked;
  }

  /**
   * Locks the database in all tabs: everything fails with the code `locked`, also after a reload, until a user unlocks the database. Tokens
   * stay valid, and their secrets unlock the database: use `q.Logout` first for tokens whose secrets are stored anywhere. The worker ends with
   * all it has in memory, and the next one loads the worker's file again: an app that works offline needs that file in a service worker.
   * @param options `forget`: instead of locking, closes the database and deletes all its data on this device. `discardUnsent`: with
   * `forget`, also deletes writes and files that have not reached a hub yet
   * @throws UnsentWrites with `forget`, when writes or files have not reached the hub yet
   */
  async signOut(options: SignOutOptions = {}): Promise<void> {
    const { forget, discardUnsent } = readOptions(SIGN_OUT_OPTIONS, options);
    if (!forget) return this.#worker.lock();
    const unsent = discardUnsent ? 0 : await this.#worker.call((host) => host.unsent());
    if (unsent > 0) throw unsentError(unsent);
    await this.destroy();
  }

  /**
   * Unlocks the database in all tabs.
   * @returns the secret of the login, or, after a login by password, that of a new token. No secret in a copy of a hub's database: continue
   * with `sync()` there
   * @throws QueryError `unauthorized`, `authentication failed`
   */
  async unlock(login: Login): Promise<{ readonly secret?: string }> {
    return (await valueOf(await this.#worker.unlock(unlockCall(login)))) as {
      readonly secret?: string;
    };
  }

  /** Data that was found missing when the database was opened. It is reported at every open until `acknowledgeLoss()` is called. */
  get loss(): LossReport | undefined {
    return this.#worker.loss;
  }

  /** Stops reporting a loss. Call it when the app has informed its user, or has restored the data. */
  async acknowledgeLoss(): Promise<void> {
    await this.#worker.acknowledgeLoss();
  }

  /** How long the browser will keep the data, as of the time when the database was opened. */
  get persistence(): Persistence {
    return this.#worker.persistence;
  }

  /**
   * Returns a client that acts with the secret of a key or a token; without options, with the root secret.
   * @throws UsageError when options are given without a secret: a user who has logged out must not become the admin
   */
  client(options: { readonly secret?: string } = {}): Client {
    const { secret } = readOptions(CLIENT_OPTIONS, options);
    return makeClient(this.#clientHost(), () => secret ?? this.#worker.rootSecret);
  }

  /**
   * Makes this database a copy of a hub's database and keeps both in sync from now on. `sync.client` queries the copy as the identity of
   * the login, and every write waits in the copy until the hub has judged it. Resolves when the copy can be used: at once if this device
   * has synced before. Further calls return the same `Sync`, with the sets of the last call and, if given, its login.
   * @throws UsageError when an option is wrong; Unsupported on a page that was not served over https or from localhost
   * @throws QueryError when the login fails, the first sync has no connection, or the database already holds other data
   */
  async sync(options: SyncOptions): Promise<Sync> {
    checkSyncOptions(options);
    requireSecure('Sync');
    this.#synced ??= new Sync(this.#worker, this.#clientHost(), this.files);
    return this.#synced.start(options);
  }

  /** Checks all stored data for consistency. @returns a description of each problem; an empty list if there is none */
  async verify(): Promise<readonly string[]> {
    return this.#worker.ask((host) => host.verify());
  }

  /** Lets running queries finish, then closes the database and ends its worker. */
  async close(): Promise<void> {
    await this.#worker.close('close');
  }

  /**
   * Closes the database and deletes all its data on this device.
   * @throws DatabaseClosed when the database was closed before: then nothing is deleted; use `forgetDatabase()`
   */
  async destroy(): Promise<void> {
    await this.#worker.close('destroy');
  }

  #clientHost(): ClientHost {
    return {
      query: (...call) => this.#query(...call),
      subscribe: (...call) => this.#subscriptions.add(...call),
    };
  }

  async #query(secret: () => string, query: string, options: QueryOptions): Promise<QueryReply> {
    const { signal, tags, ...sent } = options;
    const call = { ...sent, query, tags: tags ? tagsText(tags) : undefined };
    const reply = await this.#worker.call(
      (host, number) => host.query({ ...call, secret: secret(), number }),
      signal,
    );
    if (reply.metrics.writeOps > 0) this.#askToPersist();
    return reply;
  }

  /** Asks the browser, once, not to evict the stored data. Asking makes sense only once there is data. */
  #askToPersist(): void {
    if (!this.#mayAskToPersist) return;
    this.#mayAskToPersist = false;
    // If the request is denied, fails or is not supported, the data stays evictable; the write has succeeded all the same.
    Promise.resolve()
      .then(() => navigator.storage.persist())
      .catch(() => undefined);
  }

  #emit(message: WorkerMessage): void {
    if (message.type === 'progress')
      this.dispatchEvent(new CustomEvent('progress', { detail: progressOf(message) }));
    else if (message.type === 'sync-progress') this.#askToPersist();
    else if (message.type === 'closed') {
      this.#stopOffers();
      this.logs.close();
      // Vercel's edge runtime has no `CustomEvent`. There, databases are remote, and those emit no other event.
      if (globalThis.CustomEvent)
        this.dispatchEvent(new CustomEvent('closed', { detail: message.description }));
    }
  }

  #emitLock(): void {
    // URLs of log files give access to data too.
    if (this.isLocked) this.logs.close();
    this.dispatchEvent(new CustomEvent(this.isLocked ? 'locked' : 'unlocked'));
  }

  #emitLoss(): void {
    if (this.loss) this.dispatchEvent(new CustomEvent('loss', { detail: this.loss }));
  }
}
