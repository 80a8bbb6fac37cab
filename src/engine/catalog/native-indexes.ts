/** Entries of the indexes the engine keeps for itself. Their numbers are below every user index and never change. */
import { entryKey, indexPrefix, termsPrefix, type Key } from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import type { Range } from '../../store/port.ts';
import { scan } from '../../store/scan.ts';
import { integer, isKind } from '../../values/value.ts';
import type { DatabaseId, Micros, ObjectValue, Ref, Value } from '../../values/value.ts';
import { FIRST_USER_INDEX, isNative, NATIVE } from '../../values/native-kinds.ts';

/** Those marked `*` are under database 0, whatever database the document is in. */
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
  /** `*` ordered by the time they expire */
  expiring: 7,
  /** `*` by global id */
  databasesByGlobalId: 8,
} as const;
type NativeIndex = (typeof NATIVE_INDEX)[keyof typeof NATIVE_INDEX];

const ROOT: DatabaseId = 0;

/** Entries of a current version, beside those of user indexes. */
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

/** Everything found under one term, rows with it. */
export function nativeRange(
  index: NativeIndex,
  database: DatabaseId,
  term: Value,
  limit: number,
): Range {
  const entries = prefixRange(termsPrefix(database, index, [term]));
  return scan('documents', { by: 'entry', ...entries }, { limit });
}

/** The first entry of a native index under a database, if it has any. */
export const firstOfNative = (index: NativeIndex, database: DatabaseId): Range =>
  scan(
    'documents',
    { by: 'entry', ...prefixRange(indexPrefix(database, index)) },
    { limit: 1, rows: false },
  );

const PREFIX_BYTES = indexPrefix(0, 0).length;
const FIRST_USER = indexPrefix(0, FIRST_USER_INDEX).slice(PREFIX_BYTES / 2);

/** Entries of native indexes have no history. */
export const isNativeEntry = (entry: Key): boolean =>
  entry.slice(PREFIX_BYTES / 2, PREFIX_BYTES) < FIRST_USER;
