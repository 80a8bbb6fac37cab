/** What an engine needs from its host, and the words that both use: queries, answers, commits. What it offers: `engine.ts`. */
import type { MissingSet, QueryMetrics } from '../../answers.ts';
import type { Key } from '../../codec/key.ts';
import type { Fault, RefusalCode } from '../../errors.ts';
import type { Node } from '../../query/node.ts';
import type { ApiVersion } from '../../query/session.ts';
import type {
  Durability,
  EntrySpace,
  Range,
  Row,
  RowAddress,
  Store,
  TrackedSpace,
} from '../../store/port.ts';
import type { Writer } from '../../store/reader.ts';
import type { Micros, Ref } from '../../values/value.ts';

export interface EngineOptions {
  readonly store: Store;
  /** Wall clock, µs. */
  readonly clock: () => Micros;
  /** µs that have passed since some moment, whatever is done to the wall clock: where users can set it. */
  readonly elapsed?: () => Micros;
  /** Fresh random bytes: ids, salts of secrets. */
  readonly random: (bytes: number) => Uint8Array;
  readonly sha256: (bytes: Uint8Array) => Uint8Array;
  /**
   * bcrypt, run outside every transaction. `hash` undefined: no such account; do the same work and answer false. `address`: whence the
   * password came, if it is known.
   */
  readonly passwords: {
    hash(password: string, cost: number): Promise<string>;
    verify(password: string, hash: string | undefined, address?: string): Promise<boolean>;
  };
  readonly hashCost: number;
  /** Who may read the document of a token: the token itself (unless given), or only whom a role lets. */
  readonly ownDocument?: 'readable' | 'by role';
  /** Tokens made by others (JWT). Without it they open nothing. */
  readonly accessTokens?: AccessTokenPort;
  readonly durability: Durability;
  /** Secret with admin rights on the root database, or its hash (`hashOfRootSecret`) where it must be kept; never stored by the engine. */
  readonly rootSecret: string | { readonly hash: string };
  /** Name logged and answered as region group. */
  readonly regionGroup: string;
  /** Gives the event loop a turn between slices of background work. */
  readonly pause: () => Promise<void>;
  /** So long writes that share a commit are evaluated at one go, if not for `GROUP_MICROS`: shorter groups are more commits. */
  readonly groupMicros?: Micros;
  /** Most that one fetch brings, if less than `LIMITS.fetchBytes`: between fetches, others have their turn. */
  readonly fetchBytes?: number;
  /** Reads the text of a query that is longer than `LIMITS.sliceChars` (`longTextReader`); without it, every text is read at once. */
  readonly readLong?: (text: string, apiVersion: ApiVersion) => Promise<Node>;
  /** Keep, for each commit, which documents it changed: what a hub needs to bring devices up to date. */
  readonly logsChanges?: boolean;
  /** What queries see instead of what is stored, where that is a copy with writes of its own on top. */
  readonly view?: View;
  /** Makes the list of writes that wait for a commit; as they came, when left out. */
  readonly makeWaiting?: <T extends InLine>() => WaitingList<T>;
  /** How long cached facts stay valid without asking the store; 'never' outside a lease. */
  readonly lease?: Lease;
}

/** Another engine on the same store, which holds up nobody: for queries that take long, and those whose text is longer than `LIMITS.sliceChars`. */
export interface LongQueries {
  /** When the query may begin here; undefined: now. */
  whenFree(request: QueryRequest): Promise<void> | undefined;
  /** How long the query may be evaluated here, in the execution that begins, before it goes there. @param evaluatedMs in those before */
  turnMs(request: QueryRequest, evaluatedMs?: number): number;
  /** How long the query was evaluated here, each time. */
  recordTime?(request: QueryRequest, ms: number): void;
  /** In which database its credential acts, told with its answer. */
  recordDatabase?(request: QueryRequest, path: readonly string[]): void;
  /** As `turnMs`, of queries that may write; `turnMs` if not given. */
  readonly writeTurnMs?: number;
  /** A longer text goes there unread; `LIMITS.sliceChars` if not given. */
  readonly textCharsMax?: number;
  /** Executes it from its start. @throws Refusal */
  execute(request: QueryRequest & { readonly arrived: Micros }): Promise<QueryAnswer>;
}

/** Where a caller waits among others. */
export interface Line {
  readonly name: string;
  /** Of such lines, which have one share together. */
  readonly group: string;
}

export interface InLine {
  /** Whose it is, where callers take turns. */
  readonly line?: Line | undefined;
}

/** What an array does. Another list may have its own order, but for those of one line. */
export interface WaitingList<T> {
  readonly length: number;
  push(one: T): unknown;
  /** What was taken, and waits again. */
  unshift(...some: readonly T[]): unknown;
  /** Takes the first of them. */
  splice(from: 0, count: number): T[];
}

export interface Lease {
  /** A number while nobody else can commit, another each time that this begins; undefined: somebody can. */
  readonly term: () => number | undefined;
  /** It cannot be revoked: while it is held, the cache is valid for the next transaction too. */
  readonly isPermanent?: boolean;
}

/** The engine keeps the keys, checks claims and times; the host fetches, and knows the signatures. */
export interface AccessTokenPort {
  /** The key set (JWKS, JSON text) published at the address. Rejects when it cannot be had now. */
  fetchKeys(uri: string): Promise<string>;
  /** Whether a key of the set has signed it. `unknown key`: by one that is not in it. */
  isSigned(token: string, keys: string): Promise<boolean | 'unknown key'>;
  /** The audience that tokens name for the root database; without it, the root database has no access providers. */
  readonly rootAudience?: string | undefined;
  /** Whether keys may be published at an address that is not https. */
  readonly mayFetch?: (uri: string) => boolean;
}

export interface QueryRequest extends InLine {
  /** As it came: key, token, scoped secret. Undefined: no credential given. */
  readonly secret: string | undefined;
  /** Wire JSON text. */
  readonly query: string;
  /** In its place, which is then empty, or of a body that belongs into it (`withBody`): UTF-8 in parts. Only `LongQueries` execute it. */
  readonly queryParts?: readonly Uint8Array<ArrayBuffer>[] | undefined;
  readonly apiVersion: ApiVersion;
  /** What the place of the call allows: `POST /` write, `GET /?q=` and streams read. */
  readonly allows: 'write' | 'read';
  /** Words for the effect fault: "get requests". */
  readonly placeName?: string | undefined;
  readonly lastSeenTxn?: Micros | undefined;
  /** A read may show the state after this commit or any later one, if it can be had without asking the store; absent: the newest. */
  readonly minSnapshot?: Micros;
  readonly timeoutMs?: number | undefined;
  /** How often another commit may come between before the answer is `contended transaction`. */
  readonly retriesMax?: number | undefined;
  /** Where it came from over a network: wrong passwords are counted apart. */
  readonly address?: string | undefined;
  /** When it came, if it has waited elsewhere. */
  readonly arrived?: Micros;
  /** How long it may be evaluated in the execution that begins: then `TurnOver` is thrown. */
  readonly turnMs?: () => number;
  /** Likewise, if it may write. */
  readonly writeTurnMs?: number;
  /** Told how long each execution took here. */
  readonly recordTime?: (ms: number) => void;
  /** A long answer may come as `bytes`, with an empty `body`. */
  readonly takesBytes?: boolean;
  /** Nobody waits for the answer any more. */
  readonly isAbandoned?: () => boolean;
}

export type Metrics = QueryMetrics;

/** The credential of a query as it may be logged: never a secret. */
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
  /** In its place: UTF-8 that another thread has made. */
  readonly bytes?: Uint8Array;
  /** Commit time when something was written, else the snapshot. */
  readonly txnTime: Micros;
  /** The last commit that the query saw; absent when it was refused. */
  readonly head?: Micros;
  /** Why it was refused before or beside its evaluation. */
  readonly refusal?: RefusalCode;
  readonly metrics: Metrics;
  /** Absent when no credential was accepted. */
  readonly credential?: CredentialLabel;
  /** Path of names from the root of this store; `[]` for the root. */
  readonly database: readonly string[];
  readonly faults?: readonly Fault[];
  /** Of faults: the caller may see what they met. */
  readonly hasOwnRights?: boolean;
  /** Effects of a write that its result does not show. */
  readonly notices?: readonly string[];
  readonly readSet: ReadSet;
  /** Of a copy of a hub's database: see `MissingSet`. */
  readonly missing?: readonly MissingSet[];
  /** Of a copy too: its hub has answered. */
  readonly isHubs?: true;
  /** Index entries and documents that its sets went through. No caller is told: it is more than it is shown. */
  readonly scanned?: number;
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
   * The writer itself when it shows what is stored; then writing is allowed.
   * @param looked gets the rows that were found in the view, and not read from the store
   * @throws Suspended
   */
  over(writer: Writer, looked: RowAddress[]): Writer;
}

export interface Credential {
  readonly label: CredentialLabel;
  readonly role: 'admin' | 'server' | 'server-readonly' | 'client' | 'roles';
  /** Document the credential acts as. */
  readonly identity: Ref | undefined;
  readonly database: readonly string[];
  /** Of that database; empty for the root. */
  readonly globalId: string;
  /** `database` has meant this one since then; before, maybe another. */
  readonly since: Micros;
}
