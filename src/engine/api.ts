/** What an engine needs from its host, and what it offers: the whole contract of the engine room with logs, http, sync, worker and hub. */
import type { Key } from '../codec/key.ts';
import type { Fault } from '../errors.ts';
import type { ApiVersion } from '../query/session.ts';
import type {
  Durability,
  EntrySpace,
  Range,
  RowAddress,
  Store,
  TrackedSpace,
} from '../store/port.ts';
import type { Micros, Ref } from '../values/value.ts';

export interface EngineOptions {
  readonly store: Store;
  /** Wall clock, µs. */
  readonly clock: () => Micros;
  /** Fresh random bytes: ids, salts of secrets. */
  readonly random: (bytes: number) => Uint8Array;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  /** bcrypt, run outside every transaction. `hash` undefined: do the same work for nobody, answer false. */
  readonly passwords: {
    hash(password: string, cost: number): Promise<string>;
    verify(password: string, hash: string | undefined): Promise<boolean>;
  };
  readonly hashCost: number;
  /** Tokens made by others (JWT). Without it they open nothing. */
  readonly accessTokens?: {
    /** Whether one of the keys published at `jwksUri` has signed it. Outside every transaction; keys that are at hand are enough. */
    isSigned(token: string, jwksUri: string): Promise<boolean>;
    /** What stands in tokens for the root database; without it that has no access providers. */
    readonly rootAudience?: string;
  };
  readonly durability: Durability;
  /** Secret with admin rights on the root database, or its hash (`hashOfRootSecret`) where it must be kept; never stored by the engine. */
  readonly rootSecret: string | { readonly hash: string };
  /** Name logged and answered as region group. */
  readonly regionGroup: string;
  /** Gives the event loop a turn between slices of background work. */
  readonly pause: () => Promise<void>;
  /** How long cached facts stay valid without asking the store; 'never' outside a lease. */
  readonly lease?: { readonly isHeld: () => boolean };
}

export interface QueryRequest {
  /** As it came: key, token, scoped secret. Undefined: no credential given. */
  readonly secret: string | undefined;
  /** Wire JSON text. */
  readonly query: string;
  readonly apiVersion: ApiVersion;
  /** What the place of the call allows: `POST /` write, `GET /?q=` and streams read. */
  readonly allows: 'write' | 'read';
  /** Words for the effect fault: "get requests". */
  readonly placeName?: string;
  readonly lastSeenTxn?: Micros;
  readonly timeoutMs?: number;
  /** Where it came from over a network: wrong passwords are counted apart. */
  readonly address?: string;
}

/** The nine metrics of the spec (auth 4.5), by their client names. */
export interface Metrics {
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

/** Who asked, as it may be logged: never a secret. */
export interface CredentialLabel {
  readonly kind: 'root' | 'key' | 'token' | 'provider';
  readonly id: string;
}

/** What a query read: a later commit that touches any of it may change the answer. */
export interface ReadSet {
  readonly rows: readonly RowAddress[];
  readonly ranges: readonly Range[];
}

export interface QueryAnswer {
  readonly status: number;
  /** `{"resource":…}` or `{"errors":[…]}`. */
  readonly body: string;
  /** Commit time when something was written, else the snapshot. */
  readonly txnTime: Micros;
  readonly metrics: Metrics;
  /** Absent when no credential was accepted. */
  readonly credential?: CredentialLabel;
  /** Path of names from the root of this store; `[]` for the root. */
  readonly database: readonly string[];
  readonly faults?: readonly Fault[];
  readonly readSet: ReadSet;
}

/** One commit as seen by live queries, caches of other tabs, streams. */
export interface CommitNotice {
  /** Head before and after: a listener that missed one knows it. */
  readonly previous: Micros;
  readonly ts: Micros;
  readonly rows: readonly { readonly space: TrackedSpace; readonly key: Key }[];
  /** Entries added or removed. */
  readonly entries: readonly { readonly space: EntrySpace; readonly key: Key }[];
}

export interface Engine {
  query(request: QueryRequest): Promise<QueryAnswer>;
  /** The identity behind a secret, or undefined when it opens nothing. */
  authenticate(secret: string): Promise<Credential | undefined>;
  /** Commits of this engine, after they are durable. Returns the way to stop. */
  onCommit(listener: (notice: CommitNotice) => void): () => void;
  /** Another engine on the same store has committed: forget what it changed. */
  noteCommit(notice: CommitNotice): void;
  /** Progress of index builds; resolves when none is left. */
  buildIndexes(onProgress?: (progress: BuildProgress) => void): Promise<void>;
  /** Walks everything and says what is wrong. Empty: nothing. */
  verify(onProgress?: (checked: number) => void): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface BuildProgress {
  /** Name of the index. */
  readonly index: string;
  /** Documents looked at so far. */
  readonly done: number;
  readonly isComplete: boolean;
}

export interface Credential {
  readonly label: CredentialLabel;
  readonly role: 'admin' | 'server' | 'server-readonly' | 'client' | 'roles';
  /** Document the credential acts as. */
  readonly identity: Ref | undefined;
  readonly database: readonly string[];
}
