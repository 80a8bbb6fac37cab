/**
 * The whole contract between the page and its worker: flat calls, and one port for what comes unasked. Everything is plain
 * data. Errors cross as data too, because a thrown one keeps only its message on the way.
 */
import type { RefusalCode } from '../errors.ts';

/** Raised when anything below changes: a page and a worker of different builds refuse each other. */
export const PROTOCOL = 4;

/** What the worker answers to `HELLO`, once it can be called. */
export interface Ready {
  readonly type: 'burrow-ready';
  readonly protocol: number;
}
export interface Hello {
  readonly type: 'burrow-hello';
}
export const HELLO: Hello = { type: 'burrow-hello' };

/** The database could not do it. A query that was evaluated and failed is no refusal: it has an answer. */
export interface RefusalData {
  readonly code: RefusalCode;
  readonly description: string;
}
export type Reply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: RefusalData };

export interface LogOptions {
  readonly enabled: boolean;
  readonly retentionDays: number;
  readonly maxBytes: number;
}

export interface OpenOptions {
  readonly protocol: number;
  readonly name: string;
  readonly durability: 'strict' | 'relaxed';
  readonly hashCost: number;
  /** What tokens of identity providers are made out to, when they are for the root of this database. */
  readonly audience?: string | undefined;
  readonly log: LogOptions;
  /** Of the same database, opened before by this page: secrets handed out then stay good. */
  readonly rootSecret: string | undefined;
  /** What clients of the synced identity showed to the worker before this one. */
  readonly syncSecret: string | undefined;
  /** Name of a Web Lock that the worker takes before it answers: whoever gets it next knows that the worker is gone. */
  readonly aliveLock: string;
}

/** Data that was here is gone: the browser evicted it, or its files were lost. */
export interface LossReport {
  /** All of it, or what was written last. */
  readonly kind: 'recreated' | 'rolled-back';
  /** Commit time of the newest data known to have been here, µs. */
  readonly lastHead: number;
  /** The same in a sentence. */
  readonly description: string;
}

/**
 * How long the browser means to keep what is stored.
 * - `persistent`: until the user deletes it.
 * - `best-effort`: until it needs the space, or the site was not used for long.
 * - `session`: a private window: until it is closed.
 * - `unknown`: the browser has no `navigator.storage` to ask; it may be a private window.
 * - `none`: nothing can be stored.
 */
export type Persistence = 'persistent' | 'best-effort' | 'session' | 'unknown' | 'none';

export interface OpenReply {
  /** Undefined: the database is locked. Every call but `unlock`, `close` and `destroy` is refused. */
  readonly rootSecret: string | undefined;
  readonly persistence: Persistence;
  /** Reported at each open until it is acknowledged. */
  readonly loss: LossReport | undefined;
}

/** A login: the secret of one, or who logs in, as wire JSON, and the password; `key`: of a client key, to ask the hub by. */
export type UnlockCall =
  | { readonly secret: string }
  | { readonly user: string; readonly password: string; readonly key?: string };

/** As of a query: `{"resource":{"secret":…}}`, without a secret for the password of a copy's owner, or `{"errors":[…]}`. */
export type UnlockReply = Pick<QueryReply, 'status' | 'body'>;

export interface QueryCall {
  readonly secret: string;
  /** Wire JSON. */
  readonly query: string;
  readonly timeoutMs: number | undefined;
  /** Asks the hub, not the copy. */
  readonly at?: 'hub' | undefined;
  /** `k=v,k=v`, for the query log. */
  readonly tags: string | undefined;
  readonly traceparent: string | undefined;
}

/** The nine metrics; same names as in the engine. */
export interface QueryMetrics {
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly computeOps: number;
  readonly readOps: number;
  readonly writeOps: number;
  readonly readBytes: number;
  readonly writeBytes: number;
  /** ms */
  readonly queryTime: number;
  readonly retries: number;
}

export interface QueryReply {
  readonly status: number;
  /** `{"resource":…}` or `{"errors":[…]}`. */
  readonly body: string;
  /** µs */
  readonly txnTime: number;
  readonly metrics: QueryMetrics;
}

/** One of `secret` and `login`; neither: the identity of last time. */
export interface SyncCall {
  readonly url: string;
  readonly secret: string | undefined;
  readonly login:
    | {
        /** Wire JSON. */
        readonly user: string;
        readonly password: string;
        /** Secret of a client key. */
        readonly key: string;
      }
    | undefined;
  /** Wire JSON, by priority. */
  readonly sets: readonly string[];
}
export interface SyncReply {
  /** What clients of the synced identity show. Good in this worker only. */
  readonly secret: string;
  readonly state: SyncStateName;
  /** The login failed: what the hub, or the device in its place, answered. */
  readonly failed: { readonly status: number; readonly body: string } | undefined;
  /** Writes of before that were lost with the database, and are not in the second copy either. */
  readonly missing: number;
}

export type SyncStateName =
  | 'connecting'
  | 'catching-up'
  | 'live'
  | 'offline'
  | 'needs-login'
  | 'locked';

export interface SubmitReply {
  /** Undefined: it failed here, and is not kept. */
  readonly id: string | undefined;
  /** Undefined: only the hub can run it. */
  readonly answer: QueryReply | undefined;
}

export interface SyncWait {
  readonly for: 'synced' | 'settled';
  /** Wire JSON of one set. */
  readonly set: string | undefined;
}

export type WriteState = 'local' | 'pushed' | 'confirmed' | 'amended' | 'refused' | 'parked';

export interface WriteData {
  readonly id: string;
  readonly state: WriteState;
  /** When it was made, µs. */
  readonly at: number;
  /** Wire JSON. */
  readonly query: string;
  /** As it was answered here. */
  readonly local: { readonly status: number; readonly body: string } | undefined;
  readonly verdict: { readonly ts: number; readonly body: string | undefined } | undefined;
  /** Over what has come from the hub it fails: it will probably be refused. */
  readonly predicted: 'refused' | undefined;
  readonly replaces: string | undefined;
}

export type WriteChoice =
  | { readonly discard: true }
  | { readonly retry: true }
  | { readonly edit: string };

export interface SyncProgressData {
  readonly sets: readonly {
    /** Wire JSON. */
    readonly set: string;
    readonly rows: number;
    readonly of: number | undefined;
    readonly error: { readonly code: string; readonly description: string } | undefined;
  }[];
  readonly bytes: number;
  readonly pending: number;
  /** ms */
  readonly oldestPending: number;
}

export interface HttpCall {
  readonly method: string;
  /** Path and query string. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Of a call that came through the service worker: where URLs of files begin. */
  readonly base?: string | undefined;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** All of it; or the number of a stream, to be pulled through the port. */
  readonly body: string | { readonly stream: number };
}

/** An exported log file. */
export interface LogFile {
  readonly name: string;
  readonly file: BlobLike;
}
/** A `Blob`: this room has no word for it. It crosses without being copied. */
export interface BlobLike {
  readonly size: number;
}

/** `Port` is `MessagePort`, a word that this room does not have. */
export interface HostApi<Port> {
  open(options: OpenOptions, port: Port): Promise<Reply<OpenReply>>;
  query(call: QueryCall): Promise<Reply<QueryReply>>;
  http(call: HttpCall): Promise<Reply<HttpReply>>;
  /** The file behind a `burrow-file:` URL; undefined when it has expired or never was. */
  logFile(id: string, version: number): Promise<Reply<LogFile | undefined>>;
  /** Everything that is wrong with what is stored; progress goes through the port. */
  verify(): Promise<Reply<readonly string[]>>;
  acknowledgeLoss(): Promise<Reply<undefined>>;
  /** Locks the database, in all tabs and for later opens, and lets go of it. */
  lock(): Promise<Reply<undefined>>;
  /** Opens the lock, in all tabs, when the login is accepted; then this worker has done its work: another one opens the database. */
  unlock(call: UnlockCall): Promise<Reply<UnlockReply>>;
  /** Answers what is under way, then lets go of everything. */
  /** Keeps the database in step with a hub, from now on. Resolves when it can be used: at once after the first time. */
  sync(call: SyncCall): Promise<Reply<SyncReply>>;
  /** A write of the synced identity, kept in the outbox. */
  submit(call: Omit<QueryCall, 'secret'>): Promise<Reply<SubmitReply>>;
  /** `synced`: a set, or all of them, show what the hub has now. `settled`: every write has its verdict. */
  syncWait(call: SyncWait): Promise<Reply<undefined>>;
  writes(states: readonly WriteState[] | undefined): Promise<Reply<readonly WriteData[]>>;
  /** Resolves with what the write that takes its place was answered, if there is one. */
  resolveWrite(id: string, choice: WriteChoice): Promise<Reply<SubmitReply | undefined>>;
  stopSync(): Promise<Reply<undefined>>;
  /** Writes without a verdict. */
  unsent(): Promise<Reply<number>>;
  close(): Promise<Reply<undefined>>;
  /** Closes, and deletes what is stored. */
  destroy(): Promise<Reply<undefined>>;
  /** Deletes what is stored under a name that this worker has not opened. */
  forget(name: string): Promise<Reply<undefined>>;
}

/** From the page, through the port. */
export type PageMessage =
  | {
      readonly type: 'subscribe';
      readonly id: number;
      readonly secret: string;
      readonly query: string;
    }
  | { readonly type: 'unsubscribe'; readonly id: number }
  /** Asks for the next part of a stream. */
  | { readonly type: 'pull'; readonly stream: number }
  | { readonly type: 'cancel'; readonly stream: number }
  /** The page has lost the network, or has it again: workers are not told everywhere. */
  | { readonly type: 'network'; readonly change: 'online' | 'offline' }
  | { readonly type: 'ping' };

/** From the worker, through the port. */
export type WorkerMessage =
  /** Answer of a live query: the first, and each that differs from the one before. */
  | { readonly type: 'answer'; readonly id: number; readonly status: number; readonly body: string }
  /** `undefined`: the stream is at its end. */
  | {
      readonly type: 'part';
      readonly stream: number;
      readonly part: string | Uint8Array | undefined;
    }
  | { readonly type: 'broken'; readonly stream: number; readonly refusal: RefusalData }
  | ProgressMessage
  | SyncMessage
  /** The worker has let go of the database, unasked. */
  | { readonly type: 'closed'; readonly description: string }
  /** The lock was turned, here or in another tab. The worker has let go of the database. */
  | { readonly type: 'locked' }
  | { readonly type: 'unlocked' }
  | { readonly type: 'pong' };

export type SyncMessage =
  | {
      readonly type: 'sync-state';
      readonly state: SyncStateName;
      readonly reason: string | undefined;
    }
  | { readonly type: 'sync-verdict'; readonly write: WriteData }
  | { readonly type: 'sync-progress'; readonly progress: SyncProgressData };

export interface ProgressMessage {
  readonly type: 'progress';
  readonly task: 'index' | 'verify';
  /** Of the index that is being built. */
  readonly name: string | undefined;
  /** Documents, or rows, looked at so far. */
  readonly done: number;
  readonly isComplete: boolean;
}
