import type { Files } from '../files/files.ts';
import type { WorkerMessage } from '../../host/api.ts';
import { oneOf, optional, text, type OptionType } from '../../host/options.ts';
import type { JudgedData, SubmitReply, SyncProgress } from '../../host/sync.ts';
import type { SyncState, WriteState } from '../../states.ts';
import { makeClient, valueOf, type Client, type ClientHost } from '../queries/client.ts';
import { queryText } from '../queries/query-text.ts';
import { NotFound, type QueryError } from '../errors.ts';
import { acceptedValue, list, readOptions } from '../read-options.ts';
import type { DatabaseWorker } from '../connection/database-worker.ts';
import { TypedEvents } from '../typed-events.ts';
import {
  checkSyncOptions,
  choiceOf,
  setText,
  SUBMIT_OPTIONS,
  type SubmitOptions,
  type SyncOptions,
  type WriteResolution,
} from './sync-options.ts';
import { judgedWriteOf, writeOf, type JudgedWrite, type Verdict, type WriteIn } from './writes.ts';
import { Verdicts } from './verdicts.ts';
import type { Arg, Evaluated } from '../queries/types/arguments.ts';
import type { Expr } from '../queries/values.ts';

export interface Submitted<T> {
  readonly id: string;
  /** Result of the write on this device; undefined when only the hub can execute it. */
  readonly value: T | undefined;
  /**
   * Resolves when the hub has judged the write, even if that takes days. A refusal is a verdict too, so the promise does not reject then.
   * It rejects only when the database is closed before the verdict, which keeps the write, or when another tab has resolved the write while
   * this page could not be notified.
   */
  readonly settled: Promise<Verdict<T>>;
}

export interface SyncEvents {
  /** `reason`: why the state changed, if that is known. */
  state: CustomEvent<{ readonly state: SyncState; readonly reason: string | undefined }>;
  /** The hub has judged a write of this device, made in this tab or another. */
  verdict: CustomEvent<JudgedWrite>;
  /** How much data has arrived, and how many writes are waiting. */
  progress: CustomEvent<SyncProgress>;
}

export interface SyncClient extends Client {
  /**
   * Executes a write on the copy and puts it into the outbox. `value` is its result on this device, and `settled` its verdict by the hub.
   * With `query()`, the same happens without `settled`.
   */
  submit<T>(expression: Expr<T>, options?: SubmitOptions): Promise<Submitted<T>>;
  submit<A extends Arg>(expression: A, options?: SubmitOptions): Promise<Submitted<Evaluated<A>>>;
}

/** The writes of this device and their verdicts, until the app has resolved them. */
export interface SyncWrites {
  list<State extends WriteState = WriteState>(filter?: {
    readonly states?: readonly State[];
  }): Promise<readonly WriteIn<State>[]>;
  /**
   * Resolves with the verdict on a write of this device, by the id of the write; also after a reload.
   * @throws NotFound when the write is resolved already or never existed; DatabaseClosed when the database is closed before the verdict
   */
  settled(id: string): Promise<Verdict>;
  /**
   * Resolves a refused write: discards it, tries it again, or replaces it by another write.
   * @returns the write that replaces it
   * @throws NotFound when the write is resolved already; BadRequest when it has no verdict yet, or when the hub executed it and it is to be
   * tried again
   */
  resolve(id: string, resolution: WriteResolution): Promise<Submitted<unknown> | undefined>;
}

const NETWORK_CHANGES = ['online', 'offline'] as const;

const writeState: OptionType<WriteState> = oneOf(
  'local',
  'parked',
  'confirmed',
  'amended',
  'refused',
);

/**
 * A database that is a copy of a hub's database and is kept in sync with it.
 * @example
 * const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(q.Collection('todos'))] });
 * await sync.whenSynced();
 * const { settled } = await sync.client.submit(q.Create('todos', { data: { title: 'a nest box' } }));
 * console.log((await settled).state); // confirmed
 */
export class Sync extends TypedEvents<SyncEvents> {
  /** Queries the copy as the identity of the login. */
  readonly client: SyncClient;
  /** The files of the database, the same as `db.files`. */
  readonly files: Files;
  readonly writes: SyncWrites = {
    list: async (filter = {}) => {
      readOptions({ states: optional(list) }, filter);
      const { states } = filter;
      for (const state of states ?? []) acceptedValue(writeState, state, 'states');
      const found = await this.#worker.ask((host) => host.writes(states));
      // The only cast: the worker returns only writes in these states.
      return Promise.all(found.map(writeOf)) as Promise<never>;
    },
    settled: async (id) => {
      acceptedValue(text, id, 'id');
      // Registers for the verdict before asking for it, because the verdict may arrive during the call.
      const settled = this.#verdicts.on(id, true);
      const judged = await this.#worker
        .ask((host) => host.verdict(id))
        .catch((error: unknown) => {
          if (error instanceof NotFound) this.#verdicts.forget(id, error);
          throw error;
        });
      if (!judged) return settled;
      const write = await judgedWriteOf(judged);
      this.#verdicts.add(write);
      return write;
    },
    resolve: async (id, resolution) => {
      acceptedValue(text, id, 'id');
      const choice = choiceOf(resolution);
      const reply = await this.#worker.call((host) => host.resolveWrite(id, choice));
      return reply && this.#submitted(reply);
    },
  };
  readonly #worker: DatabaseWorker;
  /** Without the login, so that scripts of the page cannot find a password here. */
  #options: Pick<SyncOptions, 'url' | 'sets'> | undefined = undefined;
  readonly #verdicts = new Verdicts();
  #secret = '';
  #current: SyncState = 'connecting';
  #wasReported = false;
  #mayHaveMissed = false;
  #lost = 0;
  #stopListening: (() => void) | undefined = undefined;

  /** @internal */
  constructor(worker: DatabaseWorker, host: ClientHost, files: Files) {
    super();
    this.files = files;
    this.#worker = worker;
    const client = makeClient(host, () => this.#secret);
    this.client = Object.assign(client, {
      submit: (expression: Arg, options?: SubmitOptions) => this.#submit(expression, options),
    }) as SyncClient;
    worker.listen({
      onEnded: (reason) => {
        if (!worker.closed) return;
        this.#stopListening?.();
        this.#verdicts.end(reason);
        this.#enter('offline', reason);
      },
    });
  }

  get state(): SyncState {
    return this.#current;
  }

  /**
   * Number of unsent writes of this device that are lost: the browser deleted the database, and the second copy of the outbox had gaps. The
   * other writes were restored and are sent. Normally 0.
   */
  get lostWrites(): number {
    return this.#lost;
  }

  /** @internal @throws QueryError when the login fails, or the first sync has no connection */
  async start(options: SyncOptions): Promise<this> {
    this.#stopListening ??= this.#listen();
    await this.#connect(options);
    return this;
  }

  /** Changes the sets that this device keeps, and removes the documents of other sets. Resumes sync if it was stopped. */
  async setSets(sets: SyncOptions['sets']): Promise<void> {
    const options = { url: '', ...this.#options, sets };
    checkSyncOptions(options);
    await this.start(options);
  }

  /** Resolves when this device has, and shows, all that the hub has at the time of the call, in the given set or in all sets. */
  async whenSynced(set?: Arg): Promise<void> {
    const text = set === undefined ? undefined : queryText(set);
    await this.#worker.ask((host) => host.syncWait({ for: 'synced', set: text }));
  }

  /** Resolves when every write has its verdict. */
  async whenSettled(): Promise<void> {
    await this.#worker.ask((host) => host.syncWait({ for: 'settled', set: undefined }));
  }

  /** Ends the exchange with the hub. The copy stays, and keeps writes in its outbox. */
  async stop(): Promise<void> {
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#mayHaveMissed = true;
    await this.#worker.call((host) => host.stopSync());
    this.#enter('offline', 'Sync was stopped.');
  }

  #listen(): () => void {
    const stopListening = this.#worker.listen({
      onMessage: (message) => this.#onMessage(message),
      onLock: () => {
        if (this.#worker.isLocked) this.#enter('locked', 'The user of this copy has signed out.');
      },
      // The worker that had the token in memory is gone, but the token is stored on the device.
      onRenewed: () => {
        if (this.#worker.isLocked) return;
        this.#goOn().catch((error: unknown) => this.#enter('offline', error));
      },
      // Sync asks for a new worker itself, because there may be no other call that would start one.
      onEnded: (reason) => {
        if (this.#worker.isLocked || (reason as Partial<QueryError>).code !== 'worker_lost') return;
        this.#enter('connecting', undefined);
        this.#worker.replace(reason).catch((error: unknown) => this.#enter('offline', error));
      },
    });
    const network = new AbortController();
    for (const change of NETWORK_CHANGES)
      (globalThis as Partial<Pick<Window, 'addEventListener'>>).addEventListener?.(
        change,
        () => this.#reportNetwork(change),
        network,
      );
    return () => {
      network.abort();
      stopListening();
    };
  }

  #reportNetwork(change: (typeof NETWORK_CHANGES)[number]): void {
    // Without a worker there is no recipient.
    this.#worker.postIfConnected({ type: 'network', change }).catch(() => undefined);
  }

  async #connect({ url, sets, secret, login }: SyncOptions): Promise<void> {
    const texts = Array.from(sets, setText);
    this.#wasReported = false;
    const { failed, missing, ...reply } = await this.#worker.call((host) =>
      host.sync({
        url: String(url),
        secret,
        login: login && {
          user: queryText(login.user),
          password: login.password,
          key: login.key,
        },
        sets: texts,
      }),
    );
    if (failed) await valueOf(failed);
    this.#options = { url, sets };
    this.#secret = this.#worker.syncSecret = reply.secret;
    this.#lost += missing;
    // A state that was reported during the call is newer than the one in the reply.
    if (!this.#wasReported) this.#enter(reply.state, undefined);
    if (this.#mayHaveMissed) await this.#getMissed();
  }

  async #goOn(): Promise<void> {
    if (!this.#options) return;
    this.#mayHaveMissed = true;
    await this.#connect(this.#options);
  }

  /** Gets the verdicts that arrived while this page had no worker or sync was stopped. */
  async #getMissed(): Promise<void> {
    this.#mayHaveMissed = false;
    const { awaited } = this.#verdicts;
    if (awaited.size === 0) return;
    const gone = new Set(awaited.keys());
    for (const write of await this.#worker.ask((host) => host.writes(undefined))) {
      gone.delete(write.id);
      if ('ts' in write && awaited.has(write.id)) await this.#onVerdict(write);
    }
    // These writes were resolved in another tab: `settled()` rejects the promises of their waiters.
    for (const id of gone) this.writes.settled(id).catch(() => undefined);
  }

  async #submit(expression: Arg, options: SubmitOptions = {}): Promise<Submitted<never>> {
    readOptions(SUBMIT_OPTIONS, options);
    const { signal, label, data } = options;
    const query = queryText(expression);
    const note = { label, data: JSON.stringify(data) };
    const reply = await this.#worker.call(
      (host, number) => host.submit({ query, number, note }),
      signal,
    );
    return (await this.#submitted(reply)) as Submitted<never>;
  }

  /** @throws QueryError when the write failed on this device */
  async #submitted({ id, answer }: SubmitReply): Promise<Submitted<unknown>> {
    // A write without an id was not stored; its answer says why.
    if (id === undefined) return valueOf(answer) as Promise<never>;
    const settled = this.#verdicts.on(id);
    return { id, value: answer && (await valueOf(answer)), settled };
  }

  #onMessage(message: WorkerMessage): void {
    if (message.type === 'sync-state') {
      this.#wasReported = true;
      this.#enter(message.state, message.reason);
    } else if (message.type === 'sync-progress')
      this.dispatchEvent(new CustomEvent('progress', { detail: message.progress }));
    else if (message.type === 'sync-verdict') void this.#onVerdict(message.write);
  }

  async #onVerdict(data: JudgedData): Promise<void> {
    const write = await judgedWriteOf(data);
    this.#verdicts.add(write);
    this.dispatchEvent(new CustomEvent('verdict', { detail: write }));
  }

  #enter(state: SyncState, reason: unknown): void {
    if (state === this.#current && reason === undefined) return;
    this.#current = state;
    const said = reason instanceof Error ? reason.message : reason;
    this.dispatchEvent(new CustomEvent('state', { detail: { state, reason: said } }));
  }
}
