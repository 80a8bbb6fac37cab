/** What an engine needs from its host, and what it offers: the whole contract of the engine room with logs, http, sync, worker and hub. */
import type { Key } from '../codec/key.ts';
import type { Fault } from '../errors.ts';
import type { Node } from '../query/node.ts';
import type { ApiVersion } from '../query/session.ts';
import type {
  Durability,
  EntrySpace,
  Range,
  Row,
  RowAddress,
  Store,
  TrackedSpace,
} from '../store/port.ts';
import type { Micros, Ref } from '../values/value.ts';
import type { Attempted, QueryPlan } from './attempt.ts';
import type { Attempt, AttemptInput, AttemptResult } from './attempts.ts';
import type { Transacted } from './transact.ts';

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
  readonly accessTokens?: AccessTokenPort;
  readonly durability: Durability;
  /** Secret with admin rights on the root database, or its hash (`hashOfRootSecret`) where it must be kept; never stored by the engine. */
  readonly rootSecret: string | { readonly hash: string };
  /** Name logged and answered as region group. */
  readonly regionGroup: string;
  /** Gives the event loop a turn between slices of background work. */
  readonly pause: () => Promise<void>;
  /** Reads the text of a query that is longer than `LIMITS.turnChars` (`longQueryReader`); without it, all are read at one go. */
  readonly readLong?: (text: string, apiVersion: ApiVersion) => Promise<Node>;
  /** Keep, for each commit, which documents it changed: what a hub needs to bring devices up to date. */
  readonly logsChanges?: boolean;
  /** What queries see instead of what is stored, where that is a copy with writes of its own on top. */
  readonly view?: View;
  /** How long cached facts stay valid without asking the store; 'never' outside a lease. */
  readonly lease?: Lease;
}

export interface Lease {
  readonly isHeld: () => boolean;
  /** Nobody can take it away: while it is held, what is known of the store is true of the next transaction too. */
  readonly isForGood?: boolean;
}

/** The engine keeps the keys, checks claims and times; the host fetches, and knows the signatures. */
export interface AccessTokenPort {
  /** The key set (JWKS, JSON text) published at an https address. Rejects when it cannot be had now. */
  fetchKeys(uri: string): Promise<string>;
  /** Whether a key of the set has signed it. `unknown key`: by one that is not in it. */
  isSigned(token: string, keys: string): Promise<boolean | 'unknown key'>;
  /** What stands in tokens for the root database; without it that has no access providers. */
  readonly rootAudience?: string;
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
  /** How often another commit may come between before the answer is `contended transaction`. */
  readonly retriesMax?: number;
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
  /** What it wrote into the log of changes; left out where there is none, and when another process committed. */
  readonly logged?: readonly Row[];
}

export interface View {
  /**
   * The writer itself when it shows what is stored; then anybody may write as ever.
   * @param looked gets the rows that were found in the view, and not read from the store
   * @throws Suspended
   */
  over(writer: AttemptInput['writer'], looked: RowAddress[]): AttemptInput['writer'];
}

/** Queries and other work as parts of transactions: for who adds something to what a query does, in the same commit. */
export interface Transactions {
  read<T>(attempt: Attempt<T>): Promise<Transacted<T>>;
  /** Settles when the commit is durable, or at once when nothing was written. */
  write<T>(attempt: Attempt<T>): Promise<Transacted<T>>;
  /** Reads the text of a query, for `plan`. Undefined: it is short, `plan` does it at once. */
  readLong(
    request: Pick<QueryRequest, 'query' | 'apiVersion'>,
  ): Promise<QueryPlan['parsed']> | undefined;
  /** What all runs of a query have in common. `ids`: the first it makes up; `moreIds`: those behind them, by how many came before. */
  plan(
    request: QueryRequest,
    given?: Partial<Pick<QueryPlan, 'standIn' | 'now' | 'parsed'>> & {
      readonly ids?: readonly bigint[];
      readonly moreIds?: (index: number) => bigint;
    },
  ): QueryPlan;
  /** One run. @throws Suspended, Refusal */
  run(plan: QueryPlan, input: AttemptInput): AttemptResult<Attempted>;
  answer(plan: QueryPlan, run: Transacted<Attempted>): QueryAnswer;
  /** The answer to what a run threw; what is no refusal is thrown again. */
  refused(plan: QueryPlan, reason: unknown): QueryAnswer;
}

export interface Engine {
  readonly transactions: Transactions;
  query(request: QueryRequest): Promise<QueryAnswer>;
  /** The identity behind a secret, or undefined when it opens nothing. */
  authenticate(secret: string): Promise<Credential | undefined>;
  /** What a secret entitles to at present, or undefined when it opens nothing. */
  standing(secret: string): Promise<Standing | undefined>;
  /** Commits of this engine, after they are durable. Returns the way to stop. */
  onCommit(listener: (notice: CommitNotice) => void): () => void;
  /** Another engine on the same store has committed: forget what it changed. */
  noteCommit(notice: CommitNotice): void;
  /** Progress of index builds; resolves when none is left. */
  buildIndexes(onProgress?: (progress: BuildProgress) => void): Promise<void>;
  /**
   * Removes what had lapsed at the last commit (history, documents with a `ttl`, what stood in deleted collections, indexes and
   * databases) in small commits of its own; resolves when nothing of it is left. Nothing that can be seen changes.
   */
  collectGarbage(onProgress?: (progress: GarbageProgress) => void): Promise<void>;
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

export interface GarbageProgress {
  /** Rows removed or rewritten so far. */
  readonly removed: number;
  readonly isComplete: boolean;
}

export interface Standing {
  /** Differs when the secret has another role, or its roles or memberships are others. */
  readonly rights: string;
  /** The last commit when it was looked at. */
  readonly head: Micros;
  /** What that depends on. */
  readonly readSet: ReadSet;
}

export interface Credential {
  readonly label: CredentialLabel;
  readonly role: 'admin' | 'server' | 'server-readonly' | 'client' | 'roles';
  /** Document the credential acts as. */
  readonly identity: Ref | undefined;
  readonly database: readonly string[];
}
