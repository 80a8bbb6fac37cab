/** Reads documents as of a time. Spec: sets 1.2 to 1.4. */
import { documentKey, historyKey, type Key } from '../../codec/key.ts';
import { unpackVersion, type StoredVersion } from '../../codec/row.ts';
import { parseStored } from '../../codec/stored.ts';
import { fail, QueryFailure, Refusal, type Step } from '../../errors.ts';
import { denied, notFound } from '../../fault-texts.ts';
import { LIMITS } from '../../limits.ts';
import { isAtLeast, type ReadTime } from '../../query/session.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import type { Row } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import { DAY_MICROS } from '../../values/time.ts';
import { PENDING, Ref, isArray, isObject } from '../../values/value.ts';
import type {
  Document,
  Micros,
  ObjectValue,
  PendingTime,
  SetValue,
  Value,
} from '../../values/value.ts';
import type { EngineContext, StoreContext } from '../context/context.ts';
import { boundedWork } from '../context/budget.ts';
import { RowMemory } from './row-cache.ts';
import type { CollectionDefinition } from '../catalog/definitions.ts';
import { parseStoredLambda } from '../catalog/stored-lambdas.ts';
import { NATIVE, nativeKind } from '../../values/native-kinds.ts';

export const keyOf = (ref: Ref): Key => documentKey(ref.database, ref.collection, ref.id);

/** A version of an existing document. */
export interface LiveVersion {
  readonly ref: Ref;
  readonly row: Row;
  readonly version: StoredVersion;
}

/** Undefined when the document does not exist at that time: not yet created, deleted, expired, or its collection was deleted. */
export function liveVersion(
  context: StoreContext,
  ref: Ref,
  time: ReadTime,
): LiveVersion | undefined {
  const collection = context.schema(ref.database).collection(ref.collection);
  if (!collection) return undefined;
  if (time !== 'present') requireRetained(context, collection, time);
  const row = rowAt(context.reader, ref, time);
  if (!row) return undefined;
  const version = versionIn(row);
  if (version.action === 'delete' || isExpired(version, context.snapshot)) return undefined;
  return { ref, row, version };
}

const versions = new RowMemory<Row, StoredVersion>();

/** The parsed header of a row, cached because pages, predicates and queries read the same rows. */
export const versionIn = (row: Row): StoredVersion =>
  versions.get(row, row.value.length, () => unpackVersion(String(row.value)));

/** The row of the newest version at `time`, which may be a deletion. */
function rowAt(reader: Reader, ref: Ref, time: ReadTime): Row | undefined {
  const current = reader.row({ space: 'documents', key: keyOf(ref) });
  if (time === 'present') return current;
  if (current && versionIn(current).ts <= time) return current;
  return newestBefore(reader, ref, time + 1);
}

/** The newest superseded version or delete marker before `time`. */
export function newestBefore(reader: Reader, ref: Ref, time: Micros): Row | undefined {
  const [found] = reader.range({
    space: 'history',
    by: 'key',
    lower: keyOf(ref),
    upper: historyKey(ref.database, ref.collection, ref.id, time),
    reverse: true,
    limit: 1,
    rows: true,
  });
  return found?.row;
}

export const isExpired = ({ ttl }: Pick<StoredVersion, 'ttl'>, snapshot: Micros): boolean =>
  ttl !== undefined && ttl <= snapshot;

/** The minimum valid time of a collection: earlier times cannot be read. Spec: sets 1.3. */
export function minimumValidTime(collection: CollectionDefinition, snapshot: Micros): Micros {
  const { historyDays, floor } = collection;
  const kept = historyDays === undefined ? 0 : snapshot - historyDays * DAY_MICROS;
  return Math.max(0, Math.max(floor, kept) - LIMITS.historyGraceMicros);
}

/** @throws Refusal `bad request` for a time before the retained history */
export function requireRetained(
  context: Pick<EngineContext, 'snapshot'>,
  collection: CollectionDefinition,
  time: Micros,
): void {
  const minimum = minimumValidTime(collection, context.snapshot);
  if (time >= minimum) return;
  throw new Refusal(
    'bad request',
    `Requested timestamp ${time} less than minimum allowed timestamp ${minimum}.`,
  );
}

/** The stored fields of the current version, for permission checks. Not counted as a read of the query. */
export function storedFields(context: EngineContext, ref: Ref): ObjectValue | undefined {
  const live = liveVersion(context, ref, 'present');
  return live && fieldsOf(context, ref, live.version);
}

/** The parsed fields of a version. The work of parsing is charged each time, so the cost of a query does not depend on the cache. */
export function fieldsOf(
  { meters }: Pick<StoreContext, 'meters'>,
  ref: Ref,
  version: StoredVersion,
): ObjectValue {
  const { body } = version;
  const { fields, work } = parsedByVersion.get(version, body.length, () => ({
    fields:
      body === ''
        ? new Map<string, Value>()
        : (parseStored(body, {
            lambda: parseStoredLambda,
            database: ref.database,
          }) as ObjectValue),
    work: parseWork(body),
  }));
  meters?.budget.spend(work);
  return fields;
}

interface Parsed {
  readonly fields: ObjectValue;
  readonly work: number;
}

const parsedByVersion = new RowMemory<StoredVersion, Parsed>();

/** Units of work for each character of a short body. */
const SHORT_CHARS = 1024;
const SHORT_WORK = 20;
/** Units of work of longer bodies: for each character, and for each value. */
const CHAR_WORK = 4;
const VALUE_WORK = 100;
const BEFORE_VALUES = /[[{,:]/g;

function parseWork(body: string): number {
  if (body.length <= SHORT_CHARS) return body.length * SHORT_WORK;
  let values = 0;
  BEFORE_VALUES.lastIndex = 0;
  while (BEFORE_VALUES.test(body)) values += 1;
  return boundedWork(body.length * CHAR_WORK + values * VALUE_WORK);
}

/** Stored fields that are never shown to callers. */
const HIDDEN: ReadonlyMap<number, readonly string[]> = new Map([
  [NATIVE.collections, ['floor']],
  [NATIVE.indexes, ['building']],
]);

/** The fields of a document that callers may see, named as in the API version of the request. */
export function shownFields(
  { apiVersion }: Pick<EngineContext, 'apiVersion'>,
  ref: Ref,
  fields: ObjectValue,
): ObjectValue {
  const hidden = HIDDEN.get(ref.collection);
  if (!hidden) return fields;
  const isOld = ref.collection === NATIVE.indexes && !isAtLeast(apiVersion, '2.7');
  const shown = new Map<string, Value>();
  for (const [name, value] of fields) {
    if (hidden.includes(name)) continue;
    shown.set(name, isOld && name === 'source' ? sourceWithClass(value) : value);
  }
  return shown;
}

function sourceWithClass(source: Value): Value {
  if (isArray(source)) return source.map(sourceWithClass);
  if (!isObject(source)) return source;
  return new Map([...source].map(([name, each]) => [name === 'collection' ? 'class' : name, each]));
}

interface ReadOptions {
  /** The document was created by this query: HTTP answers 201. */
  readonly created?: boolean;
  /** The fields, if they have already been parsed. */
  readonly fields?: ObjectValue;
}

/** A document read from a row. Its fields are parsed on first use. */
class ReadDocument implements Document {
  readonly kind = 'document';
  readonly created: boolean;
  readonly ref: Ref;
  readonly ts: Micros | PendingTime;
  readonly text: string | undefined;
  private readonly context: EngineContext;
  private readonly version: StoredVersion;
  private parsed: ObjectValue | undefined;

  constructor(context: EngineContext, ref: Ref, version: StoredVersion, options: ReadOptions) {
    this.context = context;
    this.ref = ref;
    this.version = version;
    this.ts = shownTs(context, version.ts);
    this.created = options.created ?? false;
    // A property, not a getter: it is read whenever the size of the document is estimated.
    this.text =
      version.plain && !HIDDEN.has(ref.collection) ? version.body.slice(1, -1) : undefined;
    this.parsed = options.fields && shownFields(context, ref, options.fields);
  }

  get fields(): ObjectValue {
    const { context, ref, version } = this;
    return (this.parsed ??= shownFields(context, ref, fieldsOf(context, ref, version)));
  }
}

export const documentOf = (
  context: EngineContext,
  ref: Ref,
  version: StoredVersion,
  options: ReadOptions = {},
): Document => new ReadDocument(context, ref, version, options);

/** The shown time of a version. A query does not know its own commit time, so its own versions show `PENDING`. */
const shownTs = (context: EngineContext, ts: Micros): Micros | PendingTime =>
  ts === context.commitTs ? PENDING : ts;

/** `get` of a ref. Without permission, the error is the same whether or not the document exists. Spec: functions 1.4; auth 3.4. */
export function getDocument(
  context: EngineContext,
  ref: Ref,
  time: ReadTime,
  path: QueryPath,
): Document {
  requireRight(context, ref, path);
  const live = liveVersion(context, ref, time);
  if (!live) return failNotFound(context, ref, positionOf(path));
  countDocumentRead(context, live, time);
  return documentOf(context, ref, live.version);
}

/**
 * Fails `get` of a set without visible elements. For a collection, it fails like `get` of a missing document, so that a caller who may not
 * read the documents does not learn whether there are any. Spec: auth 3.4.
 */
export function failNothing(
  context: EngineContext,
  target: SetValue | Ref,
  path: QueryPath,
): never {
  if (target.kind === 'set' && target.op === 'documents') {
    const { database, id } = target.collection;
    requireRight(context, new Ref(database, Number(id), MISSING_ID), path);
  }
  const index = target.kind === 'set' && target.op === 'match' ? target.index : undefined;
  const detail = index && `Index ${context.schema(index.database).index(index)?.name} has none.`;
  return fail('instance not found', positionOf(path), 'Set not found.', { detail });
}

/** The id of no document. */
const MISSING_ID = 0n;

/** `exists` of a ref. False for documents that the caller may not read. */
export function documentExists(context: EngineContext, ref: Ref, time: ReadTime): boolean {
  if (!context.permissions.may({ action: 'read', ref })) return false;
  const live = liveVersion(context, ref, time);
  if (live) countDocumentRead(context, live, time);
  else context.meters.countRead(readName(keyOf(ref), time), 0);
  return live !== undefined;
}

function requireRight(context: EngineContext, ref: Ref, path: QueryPath): void {
  if (!context.permissions.may({ action: 'read', ref })) failDenied(positionOf(path));
}

export function countDocumentRead(
  context: EngineContext,
  { row }: LiveVersion,
  time: ReadTime,
): void {
  context.meters.countRead(readName(row.key, time), row.value.length);
}

/** Identifies a read. At present, the key alone is enough, which saves building a text. */
const readName = (key: Key, time: ReadTime): string =>
  time === 'present' ? key : `${time} ${key}`;

export function failDenied(position: readonly Step[]): never {
  throw new QueryFailure([denied(position)]);
}

/** The word for a document of this collection in error texts: "Collection already exists." */
export const kindName = (ref: Ref): string => nativeKind(ref.collection)?.label ?? 'Document';

export const failNotFound = (
  context: EngineContext,
  ref: Ref,
  position: readonly (string | number)[],
): never =>
  fail('instance not found', position, notFound(kindName(ref)), {
    detail: `${context.schema(ref.database).collection(ref.collection)?.name}/${ref.id}`,
  });
