/**
 * What an engine needs from its host, and the types that both use: requests, answers and commit notices. For what an engine offers, see
 * `engine.ts`.
 */
import type { MissingSet, QueryMetrics } from '../../answers.ts';
import type { Key } from '../../codec/key.ts';
import type { Sha256 } from '../../codec/sha256.ts';
import type { Fault, RefusalCode } from '../../errors.ts';
import type { ApiVersion } from '../../query/session.ts';
import type {
  Durability,
  EntrySpace,
  Row,
  RowAddress,
  Store,
  TrackedSpace,
} from '../../store/port.ts';
import type { ReadSet } from '../../store/execution-reads.ts';
import type { Writer } from '../../store/reader.ts';
import type { Micros, Ref } from '../../values/value.ts';

export interface EngineOptions {
  readonly store: Store;
  /** Wall clock, µs. */
  readonly clock: () => Micros;
  /** Monotonic clock, µs since an arbitrary moment. For hosts where users can change the wall clock. */
  readonly elapsed?: () => Micros;
  /** Returns new random bytes, for ids and the salts of secrets. */
  readonly random: (bytes: number) => Uint8Array;
  readonly sha256: Sha256;
  /**
   * bcrypt, executed outside all transactions. If `hash` is undefined (no such account), `verify` does the same work and returns false.
   * `address` is the network address that the password came from, if known.
   */
  readonly passwords: {
    hash(password: string, cost: number): Promise<string>;
    verify(password: string, hash: string | undefined, address?: string): Promise<boolean>;
  };
  readonly hashCost: number;
  /**
   * Who may read the identity document of a token: `readable` (the default) lets the token itself, `by role` only callers whose role allows
   * it.
   */
  readonly ownDocument?: 'readable' | 'by role';
  /** Accepts tokens of identity providers (JWT). If undefined, they are not valid credentials. */
  readonly accessTokens?: AccessTokenPort;
  readonly durability: Durability;
  /**
   * Secret with admin rights on the root database, or its hash (`hashOfRootSecret`) for hosts that must store it. The engine never stores
   * it.
   */
  readonly rootSecret: string | { readonly hash: string };
  /** The region group that logs and answers name. */
  readonly regionGroup: string;
  /** Yields to the event loop between slices of background work. */
  readonly pause: () => Promise<void>;
  /** How long writes that share a commit are evaluated, µs. Default: `GROUP_MICROS`. A shorter time means more commits. */
  readonly groupMicros?: Micros;
  /** How much of this without a pause, µs. Inside a transaction, no pause is made. Default: all of it. */
  readonly sliceMicros?: Micros;
  /** Most bytes that one fetch reads, if less than `LIMITS.fetchBytes`. Other transactions can run between fetches. */
  readonly fetchBytes?: number;
  /** Whether to log which documents each commit changed. A hub needs the log to send changes to devices. */
  readonly logsChanges?: boolean;
  /** What queries see in place of the stored data, when the store is a device's copy with pending writes on top. */
  readonly view?: View;
  /** Creates the list of writes that wait for a commit. Default: an array, so first in, first out. */
  readonly makeWaiting?: <T extends InLine>() => WaitingList<T>;
  /** While the lease is held, cached data is valid without reading the store. If undefined, it never is. */
  readonly lease?: Lease;
}

/**
 * Another engine on the same store, in a thread or worker of its own, so that it blocks nobody. It executes queries that take long, and
 * queries whose text is longer than `LIMITS.longTextChars`.
 */
export interface LongQueries {
  /** Resolves when the query may begin here. Undefined: it may begin at once. */
  whenFree(request: QueryRequest): Promise<void> | undefined;
  /**
   * How long the execution that begins now may be evaluated here before the query is handed over to the other engine, ms.
   * @param turn `mayWrite`: whether the query may write. `evaluatedMs`: how long its earlier executions were evaluated
   */
  turnMs(
    request: QueryRequest,
    turn?: { readonly mayWrite?: boolean; readonly evaluatedMs?: number },
  ): number;
  /** Records how long one execution of the query was evaluated here, ms. */
  recordTime?(request: QueryRequest, ms: number): void;
  /** Records the database of the query's credential, which is known once it is answered. */
  recordDatabase?(request: QueryRequest, path: readonly string[]): void;
  /** Longer query texts are handed over without being parsed here. Default: `LIMITS.longTextChars`. */
  readonly textCharsMax?: number;
  /** Executes the query from its start. @throws Refusal */
  execute(request: ArrivedQuery): Promise<QueryAnswer>;
}

export type ArrivedQuery = QueryRequest & { readonly arrived: Micros };

/** The waiting line of a caller. */
export interface Line {
  readonly name: string;
  /** Lines of the same group have one share of the capacity together. */
  readonly group: string;
}

export interface InLine {
  /** The caller's line, on hosts where callers take turns. */
  readonly line?: Line | undefined;
}

/**
 * The methods of an array that the commit queue uses. Another implementation may order entries differently, but must keep the order within
 * each line.
 */
export interface WaitingList<T> {
  readonly length: number;
  push(one: T): unknown;
  /** Puts back entries that were taken and must wait again. */
  unshift(...some: readonly T[]): unknown;
  /** Removes the first `count` entries and returns them. */
  splice(from: 0, count: number): T[];
}

export interface Lease {
  /** A number while nobody else can commit, and undefined otherwise. Each time that the lease is acquired, the number is a new one. */
  readonly term: () => number | undefined;
  /** The lease cannot be revoked. While it is held, the cache is also valid for the next transaction. */
  readonly isPermanent?: boolean;
}

/**
 * The host's part of checking tokens of identity providers: fetching keys and verifying signatures. The engine caches the keys and checks
 * claims and times.
 */
export interface AccessTokenPort {
  /** Fetches the key set (JWKS, as JSON text) published at the address. Rejects if it is unavailable. */
  fetchKeys(uri: string): Promise<string>;
  /** Whether the token was signed with a key of the set. `unknown key`: the token names a key that the set does not contain. */
  isSigned(token: string, keys: string): Promise<boolean | 'unknown key'>;
  /** The audience of tokens for the root database. If undefined, the root database has no access providers. */
  readonly rootAudience?: string | undefined;
  /** Whether keys may be published at this address although it is not https. */
  readonly mayFetch?: (uri: string) => boolean;
}

export interface QueryRequest extends InLine {
  /** The secret as received: key, token or scoped secret. Undefined: the request has no credential. */
  readonly secret: string | undefined;
  /** Wire JSON text. */
  readonly query: string;
  /**
   * The query as UTF-8 chunks, in place of `query`, which is then empty or a body that the text must be inserted into (`withBody`). Only
   * `LongQueries` execute it.
   */
  readonly queryParts?: readonly Uint8Array<ArrayBuffer>[] | undefined;
  readonly apiVersion: ApiVersion;
  /** The strongest effect that the transport allows: `POST /` allows writes, `GET /?q=` and streams only reads. */
  readonly allows: 'write' | 'read';
  /** What the transport is called in the error for a forbidden effect, for example "get requests". */
  readonly placeName?: string | undefined;
  readonly lastSeenTxn?: Micros | undefined;
  /** A read may show the state after this commit or any later one, if that avoids reading the store. Undefined: the newest state. */
  readonly minSnapshot?: Micros;
  readonly timeoutMs?: number | undefined;
  /** How often the write may be retried because another commit intervened. After that, the answer is `contended transaction`. */
  readonly retriesMax?: number | undefined;
  /** Network address of the client. Wrong passwords are counted separately for each address. */
  readonly address?: string | undefined;
  /** When the request arrived, if it has waited elsewhere. */
  readonly arrived?: Micros;
  /** Resolves when a read may be executed again. Undefined: at once. Called only if nobody waits for the transaction that is open. */
  readonly whenFree?: () => Promise<void> | undefined;
  /** How long the execution that begins now may be evaluated, ms. After that, it throws `TurnOver`. */
  readonly turnMs?: (mayWrite: boolean) => number;
  /** Called with the duration of each execution here. */
  readonly recordTime?: (ms: number) => void;
  /** The caller accepts a long answer as `bytes`, with an empty `body`. */
  readonly takesBytes?: boolean;
  /** Whether the caller no longer waits for the answer. */
  readonly isAbandoned?: () => boolean;
}

/** The credential of a query in a form that may be logged. It never contains a secret. */
export interface CredentialLabel {
  readonly kind: 'root' | 'key' | 'token' | 'provider';
  readonly id: string;
}

export interface QueryAnswer {
  readonly status: number;
  /** `{"resource":…}` or `{"errors":[…]}`. */
  readonly body: string;
  /** The body as UTF-8, in place of `body`, when another thread produced the answer. */
  readonly bytes?: Uint8Array;
  /** The commit time if something was written, otherwise the time of the snapshot. */
  readonly txnTime: Micros;
  /** The last commit that the query saw. Undefined when the query was refused. */
  readonly head?: Micros;
  /** Set if the query was refused as a whole, before or during its evaluation. */
  readonly refusal?: RefusalCode;
  /** Until when the same query will be refused, if that is known. */
  readonly until?: Micros | undefined;
  readonly metrics: QueryMetrics;
  /** Undefined when no credential was accepted. */
  readonly credential?: CredentialLabel;
  /** Names of the databases from the root of this store down to this one; `[]` for the root. */
  readonly database: readonly string[];
  readonly faults?: readonly Fault[];
  /** Set together with `faults`: whether the caller has permission to see the data that the faults mention. */
  readonly hasOwnRights?: boolean;
  /** Messages about effects of a write that its result does not show. */
  readonly notices?: readonly string[];
  readonly readSet: ReadSet;
  /** Only on a copy of a hub's database: see `MissingSet`. */
  readonly missing?: readonly MissingSet[];
  /** Only on a copy: the answer came from the hub. */
  readonly isFromHub?: true;
  /**
   * Number of index entries and documents that sets went through. Never sent to callers: it would reveal how many hidden documents there
   * are.
   */
  readonly scanned?: number;
}

/** Notification of one commit, for live queries, streams and the caches of other tabs. */
export interface CommitNotice {
  /** The head before this commit. With it, a listener detects that it missed a commit. */
  readonly previous: Micros;
  readonly ts: Micros;
  readonly rows: readonly { readonly space: TrackedSpace; readonly key: Key }[];
  /** Index entries that the commit added or removed. */
  readonly entries: readonly { readonly space: EntrySpace; readonly key: Key }[];
  /** Rows that the commit wrote to the change log. Undefined if there is no change log, or if another process committed. */
  readonly logged?: readonly Row[];
}

export interface View {
  /**
   * Returns a writer that shows the view, or `writer` itself if the view equals the stored data. Queries may write only in the latter case.
   * @param looked receives the addresses of rows that were found in the view instead of the store
   * @throws Suspended
   */
  over(writer: Writer, looked: RowAddress[]): Writer;
}

export interface Credential {
  readonly label: CredentialLabel;
  readonly role: 'admin' | 'server' | 'server-readonly' | 'client' | 'roles';
  /** The document that the credential acts as. */
  readonly identity: Ref | undefined;
  readonly database: readonly string[];
  /** Global id of the database; empty for the root. */
  readonly globalId: string;
  /** Since when the path `database` has named this database. Before, it may have named another one. */
  readonly since: Micros;
}
