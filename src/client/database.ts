import type { ProgressMessage, WorkerMessage } from '../host/api.ts';
import { flag, option, text, type OptionRow } from '../host/options.ts';
import type { HttpCall, HttpReply, QueryReply } from '../host/query.ts';
import type { Persistence } from '../states.ts';
import {
  makeClient,
  valueOf,
  type Client,
  type ClientHost,
  type QueryOptions,
} from './queries/client.ts';
import { refusalError, UsageError, type QueryError } from './errors.ts';
import { Files } from './files/files.ts';
import { fetchFrom, type BurrowFetch } from './fetch.ts';
import { lockedError, type Link, type LinkTarget } from './connection/link.ts';
import type { LossReport } from './connection/loss-report.ts';
import { unlockCall, type Login } from './login.ts';
import { Logs } from './logs/logs.ts';
import { readOptions, scalar } from './read-options.ts';
import { requireSecure } from './require-secure.ts';
import { answerOffers } from './connection/service-offers.ts';
import { isPlain } from './queries/is-plain.ts';
import { Streams } from './live/streams.ts';
import { Subscriptions } from './live/subscriptions.ts';
import { checkSyncOptions, Sync, type SyncOptions } from './sync/sync.ts';
import { TypedEvents } from './typed-events.ts';

/** Of a build of an index, of `verify()`, or of a move of what is stored into another layout. */
export type Progress = Omit<ProgressMessage, 'type'>;

/** @internal */
export const progressOf = ({ task, name, done, isComplete }: ProgressMessage): Progress => ({
  task,
  name,
  done,
  isComplete,
});

export interface DatabaseEvents {
  /** An index is being built, or `verify()` runs. */
  progress: CustomEvent<Progress>;
  /** A new worker, after one was lost, found data missing. */
  loss: CustomEvent<LossReport>;
  /** Its user has signed out, here or in another tab: all that runs has failed with the code `locked`. */
  locked: CustomEvent<undefined>;
  /** It can be used again, with a new root secret. */
  unlocked: CustomEvent<undefined>;
  /** Nothing can be asked of this object any more; `detail` says why. */
  closed: CustomEvent<string>;
}

export interface SignOutOptions {
  /** Deletes all that is kept of the database on this device. */
  readonly forget?: boolean;
  /** With `forget`: even writes and files that no hub has yet. */
  readonly discardUnsent?: boolean;
}

const SIGN_OUT_OPTIONS = {
  forget: option(flag, false),
  discardUnsent: option(flag, false),
} satisfies Record<keyof SignOutOptions, OptionRow>;

export const unsentError = (count: number): QueryError =>
  refusalError(
    'unsent_writes',
    `${count} write(s) or file(s) have not reached the hub. Connect to send them, or discard them with { discardUnsent: true }.`,
  );

/**
 * As the worker reads them. It refuses a mark in a name or a value, and so what would be read as other tags: 'invalid tags'.
 */
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
  /** The HTTP surface as a `fetch`, for the original driver: `new faunadb.Client({ secret, fetch: db.fetch })`. */
  readonly fetch: BurrowFetch;
  readonly logs: Logs;
  /** Photos and other files beside the documents. */
  readonly files: Files;
  readonly #link: Link;
  readonly #subscriptions: Subscriptions;
  #mayAskToPersist: boolean;
  readonly #stopOffers: () => void;
  #synced: Sync | undefined = undefined;

  /** @internal */
  constructor(link: Link, options: { readonly name: string; readonly persist: boolean }) {
    super();
    this.name = options.name;
    this.#link = link;
    this.#mayAskToPersist = options.persist;
    this.#subscriptions = new Subscriptions(link);
    this.files = new Files(link);
    const streams = new Streams(link);
    const http = (call: HttpCall): Promise<HttpReply> => link.call((host) => host.http(call));
    const openStream = (stream: number, onEnd?: () => void) => streams.open(stream, onEnd);
    const abortStream = (stream: number, reason: unknown) => streams.abort(stream, reason);
    this.#stopOffers = answerOffers({ name: options.name, http, openStream });
    this.logs = new Logs({
      http,
      logFile: (id, version) => link.ask((host) => host.logFile(id, version)),
      rootSecret: () => link.rootSecret,
    });
    this.fetch = fetchFrom({ http: (call) => this.logs.http(call), openStream, abortStream });
    link.listen({
      onMessage: (message) => this.#emit(message),
      onLock: () => this.#emitLock(),
      onRenewed: () => this.#emitLoss(),
    });
  }

  /** @internal Where it is stored, and how it is opened there. */
  get stored(): LinkTarget {
    return this.#link.target;
  }

  /** @internal Why nothing can be asked of it any more. */
  get closed(): Error | undefined {
    return this.#link.closed;
  }

  /** Opens everything in this database. Keep it in the page. @throws DatabaseClosed, DatabaseLocked */
  get rootSecret(): string {
    if (this.closed) throw this.closed;
    if (this.isLocked) throw lockedError();
    return this.#link.rootSecret;
  }

  /** Its user has signed out: nothing in it can be read until it is unlocked. */
  get isLocked(): boolean {
    return this.#link.isLocked;
  }

  /**
   * Ends the session on this device, in all tabs: everything is refused with the code `locked`, also after a reload, until somebody
   * unlocks the database. Tokens stay valid, and their secrets unlock it: log out first with those that are kept anywhere.
   * @param options `forget`: closes the database instead and deletes all that is kept of it on this device. `discardUnsent`: even
   * writes that no hub has seen yet
   * @throws UnsentWrites
   */
  async signOut(options: SignOutOptions = {}): Promise<void> {
    const { forget, discardUnsent } = readOptions(SIGN_OUT_OPTIONS, options);
    if (!forget) return this.#link.lock();
    const unsent = discardUnsent ? 0 : await this.#link.call((host) => host.unsent());
    if (unsent > 0) throw unsentError(unsent);
    await this.destroy();
  }

  /**
   * Opens the lock, in all tabs.
   * @returns the secret given, or of the new token of who logged in by password; none in a copy of a hub's, where `sync()` goes on
   * @throws QueryError `unauthorized`, `authentication failed`
   */
  async unlock(login: Login): Promise<{ readonly secret?: string }> {
    return (await valueOf(await this.#link.unlock(unlockCall(login)))) as {
      readonly secret?: string;
    };
  }

  /** Data that was found missing when the database was opened; until `acknowledgeLoss()` at every open. */
  get loss(): LossReport | undefined {
    return this.#link.loss;
  }

  /** Call it when the app has informed its user, or has restored what was lost. */
  async acknowledgeLoss(): Promise<void> {
    await this.#link.acknowledgeLoss();
  }

  /** How long the browser meant to keep the data when it was opened. */
  get persistence(): Persistence {
    return this.#link.persistence;
  }

  /**
   * Acts with the secret of a key or of a token; without options with the root secret.
   * @throws UsageError when options hold no secret: a user who has logged out must not become the admin
   */
  client(options: { readonly secret?: string } = {}): Client {
    readOptions({ secret: scalar }, options);
    const { secret } = options;
    if ('secret' in options && !text.accepts(secret))
      throw new UsageError(
        `client({ secret }) got ${secret === '' ? 'an empty secret' : String(secret)}: pass the secret of a key or a token. Without a user, show the login; db.client() acts as the admin.`,
      );
    return makeClient(this.#clientHost(), () => secret ?? this.#link.rootSecret);
  }

  /**
   * Keeps this database in step with a hub, from now on. It is a copy then: `sync.client` acts on it as the identity, and every write waits
   * in it until the hub has judged it. Resolves when it can be used: at once when this device has synced before.
   * Called again it gives the same `Sync`, with the sets of the last call and, if there is one, its login.
   * @throws UsageError when an option is wrong, Unsupported on a page that was not served over https or from localhost
   * @throws QueryError when the login fails, the first sync has no connection, or the database holds something else
   */
  async sync(options: SyncOptions): Promise<Sync> {
    checkSyncOptions(options);
    requireSecure('Sync');
    this.#synced ??= new Sync(this.#link, this.#clientHost(), this.files);
    return this.#synced.start(options);
  }

  /** Looks at everything that is stored and says what is wrong: nothing, when the list is empty. */
  async verify(): Promise<readonly string[]> {
    return this.#link.ask((host) => host.verify());
  }

  /** Lets running queries finish, then lets go of everything. */
  async close(): Promise<void> {
    await this.#link.close('close');
  }

  /**
   * Closes the database and deletes all that it holds on this device.
   * @throws DatabaseClosed when it was closed before: then nothing is deleted, and `forgetDatabase()` does it
   */
  async destroy(): Promise<void> {
    await this.#link.close('destroy');
  }

  #clientHost(): ClientHost {
    return {
      query: (...call) => this.#query(...call),
      subscribe: (...call) => this.#subscriptions.add(...call),
    };
  }

  async #query(secret: string, query: string, options: QueryOptions): Promise<QueryReply> {
    const { signal, tags, ...sent } = options;
    const call = { ...sent, secret, query, tags: tags ? tagsText(tags) : undefined };
    const reply = await this.#link.call((host, number) => host.query({ ...call, number }), signal);
    if (reply.metrics.writeOps > 0) this.#askToPersist();
    return reply;
  }

  /** Stored data may be evicted until the browser is asked to keep it; asking makes sense once there is some. */
  #askToPersist(): void {
    if (!this.#mayAskToPersist) return;
    this.#mayAskToPersist = false;
    // Refused, thrown or impossible: the data stays what it is, evictable, and the write is answered.
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
      this.dispatchEvent(new CustomEvent('closed', { detail: message.description }));
    }
  }

  #emitLock(): void {
    // Files whose URLs were handed out are data too.
    if (this.isLocked) this.logs.close();
    this.dispatchEvent(new CustomEvent(this.isLocked ? 'locked' : 'unlocked'));
  }

  #emitLoss(): void {
    if (this.loss) this.dispatchEvent(new CustomEvent('loss', { detail: this.loss }));
  }
}
