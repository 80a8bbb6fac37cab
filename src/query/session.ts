/**
 * What functions need of the engine: everything that touches documents, sets, schema or identity. Implemented by the engine room
 * over a synchronous `Reader`; any method may throw `Suspended`, and `QueryFailure` with positions built from the path given.
 */
import type {
  DatabaseId,
  Lambda,
  Document,
  Event,
  Micros,
  Page,
  PendingTime,
  Ref,
  SetValue,
  UnresolvedRef,
  Value,
  ObjectValue,
  ActionName,
} from '../values/value.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { QueryPath } from './query-path.ts';
import type { NativeName, SchemaName } from '../values/native-kinds.ts';

/** API versions in order. Spec: values 1. */
export const API_VERSIONS = ['2.0', '2.1', '2.7', '2.12', '3', '4', '5', 'UNSTABLE'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];
export const isAtLeast = (version: ApiVersion, other: ApiVersion): boolean =>
  API_VERSIONS.indexOf(version) >= API_VERSIONS.indexOf(other);

/** The time a read sees: the present (committed and this query's own writes), or valid time in µs. */
export type ReadTime = Micros | 'present';

/** Names and internal numbers of schema objects, as committed before this query. */
export interface Names {
  /** Where names are looked up that say nothing else. */
  readonly database: DatabaseId;
  /** Refs as seen from the database that the query was sent to, as its answer has them. */
  readonly ofAnswer: Pick<Names, 'refToWire'>;
  /** `scope`: a resolved database ref, or undefined for the query's own database. */
  ref(kind: SchemaName, name: string, scope: Ref | undefined): Ref | UnresolvedRef;
  /** `Collections()` and its like, here or in the database of `scope`. */
  native(name: NativeName, scope: Ref | undefined): Ref;
  /** The inside of `{"@ref":…}` for this API version; undefined when what it names is gone (it then renders as nothing). */
  refToWire(ref: Ref): string | undefined;
  /** The same names as another version writes them. */
  inVersion(apiVersion: ApiVersion): Pick<Names, 'refToWire'>;
}

export interface PageOptions {
  readonly size: number;
  readonly time: ReadTime;
  /** `cursor` is as given (not yet an array). `steps`: where its faults are reported, below the form's place. */
  readonly cursor:
    | {
        readonly side: 'before' | 'after';
        readonly value: Value;
        readonly steps: readonly string[];
      }
    | undefined;
  readonly events: boolean;
  readonly sources: boolean;
}

export interface ReadSession {
  /** `Now()`: constant within the query. */
  readonly snapshot: Micros;
  /** What a read at `ts` sees: times that are not past mean the present. Spec: functions 1.1, `at`. */
  seenAt(ts: Micros | PendingTime): ReadTime;
  /** Commit time of what the query writes: how a pending time is written in a text. */
  readonly pendingTs: Micros;
  readonly apiVersion: ApiVersion;
  readonly names: Names;
  /** What `{"@ref":{"id":"self","collection":…}}` means: the identity, token or credentials in use, if in `collection`. */
  self(collection: Ref): Ref | undefined;
  /** Counts evaluation steps towards `computeOps` and the budget. @throws Refusal `bad request` past the limit */
  charge(steps: number): void;
  /**
   * Counts units of work that is about to be done: see `costs.ts`. A part of a thousand or so comes before a part of the work.
   * @throws Refusal `bad request` past the limits, `time out`
   */
  spend(units: number): void;
  /** What the values made take. */
  readonly memory: MemoryBudget;

  /** Spec: functions 1.4. Faults at `path` (missing, denied) or `[get]` (unreadable set). */
  get(target: Ref | SetValue, time: ReadTime, path: QueryPath): Document;
  exists(target: Ref | SetValue, time: ReadTime, queryPath: QueryPath): boolean;
  paginate(target: Ref | SetValue, options: PageOptions, queryPath: QueryPath): Page;
  /** All elements in order, read in growing chunks. `key` is the wire key of the reader (`count`, `sum`…): denial is reported there. */
  elements(set: SetValue | Ref, time: ReadTime, queryPath: QueryPath, key: string): Iterable<Value>;
  /** Whether the element of `set` at `value` as a cursor is that value. Spec: `contains_value` on sets. */
  setContains(set: SetValue | Ref, value: Value, time: ReadTime, queryPath: QueryPath): boolean;
  /** @throws `invalid ref` / `instance not found` (400) at `[index]` when there is no such index or it is not active */
  requireIndex(nameOrRef: string | Ref, queryPath: QueryPath): Ref;
  /** Reverse flags and history of a set, for "Sets are not compatible." and "Set does not support events history." Spec: sets 4. */
  shapeOf(set: SetValue | Ref): {
    readonly reversed: readonly boolean[];
    readonly history: boolean;
  };
  /** The stored function, if the caller may call it with this argument, and the session to call it in. Spec: functions 4.6. */
  functionBody(
    nameOrRef: string | Ref,
    argument: Value,
    queryPath: QueryPath,
  ): { readonly lambda: Lambda; readonly session: WriteSession };
  readonly auth: Identities;
}

/** Who asks, and who a secret or a password belongs to. */
export interface Identities {
  keyFromSecret(secret: string, queryPath: QueryPath): Document | ObjectValue;
  identify(target: Ref | SetValue, password: string, queryPath: QueryPath): boolean;
  identity(queryPath: QueryPath): Value;
  hasIdentity(): boolean;
  token(queryPath: QueryPath): Value;
  hasToken(): boolean;
}

export interface WriteSession extends ReadSession {
  newId(): string;
  readonly auth: Logins;
  readonly writes: Writes;
}

export interface Logins extends Identities {
  login(
    target: Ref | SetValue,
    params: ObjectValue,
    queryPath: QueryPath,
    time: ReadTime,
  ): Document;
  logout(all: boolean): boolean;
}

/** A version or an end of a document, in its history. */
export interface PastEvent {
  readonly ref: Ref;
  readonly ts: Micros | PendingTime;
  readonly action: ActionName;
  /** Of one that is inserted. */
  readonly params?: ObjectValue | undefined;
}

export interface Writes {
  /** `key`: the wire key of the form (`create`, `create_collection`…), the position of most of its faults. Spec: functions 1.5. */
  create(
    target: Ref | string,
    params: ObjectValue,
    queryPath: QueryPath,
    key: string,
    time: ReadTime,
  ): Document;
  update(ref: Ref, params: ObjectValue, queryPath: QueryPath, time: ReadTime): Document;
  replace(ref: Ref, params: ObjectValue, queryPath: QueryPath, time: ReadTime): Document;
  delete(ref: Ref, queryPath: QueryPath): Document;
  insert(event: PastEvent, queryPath: QueryPath, time: ReadTime): Event;
  remove(event: PastEvent, queryPath: QueryPath, time: ReadTime): null;
  moveDatabase(from: Ref, to: Ref, queryPath: QueryPath): Document;
}
