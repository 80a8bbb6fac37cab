/**
 * What functions need of the engine: everything that concerns documents, sets, schema or identity. The engine
 * implements it over a synchronous `Reader`. Any method may throw `Suspended`, or `QueryFailure` with positions made of
 * the given path.
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

/** The time that a read sees: the present (committed data and this query's own writes), or valid time in µs. */
export type ReadTime = Micros | 'present';

/** Names and internal numbers of schema objects, as committed before this query. */
export interface Names {
  /** The database in which names without a scope are looked up. */
  readonly database: DatabaseId;
  /** Renders refs as the answer contains them: relative to the database that the query was sent to. */
  readonly ofAnswer: Pick<Names, 'refToWire'>;
  /** @param scope a resolved database ref, or undefined for the query's own database */
  ref(kind: SchemaName, name: string, scope: Ref | undefined): Ref | UnresolvedRef;
  /** The ref of a native collection (`Collections()` and similar), here or in the database of `scope`. */
  native(name: NativeName, scope: Ref | undefined): Ref;
  /**
   * The content of `{"@ref":…}` for this API version. Undefined if the referenced object no longer exists: the ref then
   * renders as nothing.
   */
  refToWire(ref: Ref): string | undefined;
  /** The same names as another API version writes them. */
  inVersion(apiVersion: ApiVersion): Pick<Names, 'refToWire'>;
}

export interface PageOptions {
  readonly size: number;
  readonly time: ReadTime;
  /** `value`: the cursor as given, not converted to an array. `steps`: the position of its faults, relative to the form. */
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
  /** The time of `Now()`, constant within the query. */
  readonly snapshot: Micros;
  /** The time that a read at `ts` sees. A time that is not in the past means the present. Spec: functions 1.1, `at`. */
  seenAt(ts: Micros | PendingTime): ReadTime;
  /** The commit time of the query's writes. A pending time is rendered as this. */
  readonly pendingTs: Micros;
  readonly apiVersion: ApiVersion;
  readonly names: Names;
  /**
   * The meaning of `{"@ref":{"id":"self","collection":…}}`: the identity, token or credentials in use, if it is in
   * `collection`.
   */
  self(collection: Ref): Ref | undefined;
  /** Counts evaluation steps towards `computeOps` and the budget. @throws Refusal `bad request` beyond the limit */
  charge(steps: number): void;
  /**
   * Counts units of work before the work is done: see `costs.ts`. Long work is charged in portions of about a
   * thousand units, each before its portion of the work.
   * @throws Refusal `bad request` beyond the limits, `time out`
   */
  spend(units: number): void;
  /** The memory of the values that the query has made. */
  readonly memory: MemoryBudget;

  /** Spec: functions 1.4. Faults are reported at `path` (missing, denied) or at `[get]` (unreadable set). */
  get(target: Ref | SetValue, time: ReadTime, path: QueryPath): Document;
  exists(target: Ref | SetValue, time: ReadTime, queryPath: QueryPath): boolean;
  paginate(target: Ref | SetValue, options: PageOptions, queryPath: QueryPath): Page;
  /**
   * All elements in order, read in growing chunks. `key`: wire key of the calling function (`count`, `sum`…). Denied
   * access is reported there.
   */
  elements(set: SetValue | Ref, time: ReadTime, queryPath: QueryPath, key: string): Iterable<Value>;
  /**
   * Whether `set` contains `value`: `value` is used as a cursor and compared with the element there. Spec:
   * `contains_value` on sets.
   */
  setContains(set: SetValue | Ref, value: Value, time: ReadTime, queryPath: QueryPath): boolean;
  /** @throws `invalid ref` / `instance not found` (400) at `[index]` when the index does not exist or is not active */
  requireIndex(nameOrRef: string | Ref, queryPath: QueryPath): Ref;
  /**
   * Directions of the values of a set, and whether it lists events. For the faults "Sets are not compatible." and "Set
   * does not support events history." Spec: sets 4.
   */
  shapeOf(set: SetValue | Ref): {
    readonly reversed: readonly boolean[];
    readonly history: boolean;
  };
  /** A stored function and the session to call it in, if the caller may call it with this argument. Spec: functions 4.6. */
  functionBody(
    nameOrRef: string | Ref,
    argument: Value,
    queryPath: QueryPath,
  ): { readonly lambda: Lambda; readonly session: WriteSession };
  readonly auth: Identities;
}

/** Answers who the caller is, and to whom a secret or password belongs. */
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

/** An event in the history of a document: a version or a deletion. */
export interface PastEvent {
  readonly ref: Ref;
  readonly ts: Micros | PendingTime;
  readonly action: ActionName;
  /** Only for an event that is inserted. */
  readonly params?: ObjectValue | undefined;
}

export interface Writes {
  /**
   * @param key the wire key of the form (`create`, `create_collection`…), the position of most faults. Spec: functions
   * 1.5
   */
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
