/** Entries of the engine's internal indexes. Their numbers are below those of all user-defined indexes and never change. */
import { entryKey, indexPrefix, termsPrefix, type Key } from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import type { Range } from '../../store/port.ts';
import { scan } from '../../store/scan.ts';
import { integer, isKind } from '../../values/value.ts';
import type { DatabaseId, Micros, ObjectValue, Ref, Value } from '../../values/value.ts';
import { FIRST_USER_INDEX, isNative, NATIVE } from '../../values/native-kinds.ts';

/** Entries of indexes marked with `*` are stored under database 0, whatever database the document is in. */
export const NATIVE_INDEX = {
  /** `*` by id */
  keys: 1,
  /** `*` by id */
  tokens: 2,
  tokensByInstance: 3,
  credentialsByInstance: 4,
  /** `*` by the database's own number */
  databases: 5,
  databasesByName: 6,
  /** `*` ordered by expiry time */
  expiring: 7,
  /** `*` by global id */
  databasesByGlobalId: 8,
} as const;
type NativeIndex = (typeof NATIVE_INDEX)[keyof typeof NATIVE_INDEX];

const ROOT: DatabaseId = 0;

/** Entries of a current version in internal indexes. Those in user-defined indexes are not included. */
export function nativeEntries(ref: Ref, fields: ObjectValue, ttl: Micros | undefined): Key[] {
  const entries = isNative(ref.collection) ? entriesByKind(ref, fields) : [];
  if (ttl !== undefined) entries.push(expiringEntry(ref, ttl));
  return entries;
}

function entriesByKind(ref: Ref, fields: ObjectValue): Key[] {
  const entries: Key[] = [];
  const add = (index: NativeIndex, database: DatabaseId, term: Value | undefined) => {
    if (term === undefined) return;
    entries.push(entryKey({ database, index, terms: [term], values: [], reverse: [], ref }));
  };
  const id = integer(ref.id);
  switch (ref.collection) {
    case NATIVE.keys:
      add(NATIVE_INDEX.keys, ROOT, id);
      break;
    case NATIVE.tokens:
      add(NATIVE_INDEX.tokens, ROOT, id);
      add(NATIVE_INDEX.tokensByInstance, ref.database, instanceIn(fields));
      break;
    case NATIVE.credentials:
      add(NATIVE_INDEX.credentialsByInstance, ref.database, instanceIn(fields));
      break;
    case NATIVE.databases:
      add(NATIVE_INDEX.databases, ROOT, id);
      add(NATIVE_INDEX.databasesByName, ref.database, fields.get('name'));
      add(NATIVE_INDEX.databasesByGlobalId, ROOT, fields.get('global_id'));
      break;
  }
  return entries;
}

const expiringEntry = (ref: Ref, ttl: Micros): Key =>
  entryKey({
    database: ROOT,
    index: NATIVE_INDEX.expiring,
    terms: [],
    values: [ttl],
    reverse: [false],
    ref,
  });

const instanceIn = (fields: ObjectValue): Ref | undefined => {
  const instance = fields.get('instance');
  return isKind(instance, 'ref') ? instance : undefined;
};

/** The range of all entries with this term, including their rows. */
export function nativeRange(
  index: NativeIndex,
  database: DatabaseId,
  term: Value,
  limit: number,
): Range {
  const entries = prefixRange(termsPrefix(database, index, [term]));
  return scan('documents', { by: 'entry', ...entries }, { limit });
}

/** A range that returns the first entry of an internal index in a database, if there is one. */
export const firstOfNative = (index: NativeIndex, database: DatabaseId): Range =>
  scan(
    'documents',
    { by: 'entry', ...prefixRange(indexPrefix(database, index)) },
    { limit: 1, rows: false },
  );

const PREFIX_BYTES = indexPrefix(0, 0).length;
const FIRST_USER = indexPrefix(0, FIRST_USER_INDEX).slice(PREFIX_BYTES / 2);

/** Whether the entry is in an internal index. Such entries have no history. */
export const isNativeEntry = (entry: Key): boolean =>
  entry.slice(PREFIX_BYTES / 2, PREFIX_BYTES) < FIRST_USER;
