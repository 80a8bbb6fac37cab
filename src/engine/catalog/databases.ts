/**
 * Databases and their tree. A database's document lives in its parent's collection `databases`; its id is the database's
 * internal number. The root, number 0, has no document.
 */
import {
  after,
  databaseFrom,
  databasePrefix,
  decodeDocumentKey,
  type Key,
} from '../../codec/key.ts';
import { unpackVersion } from '../../codec/row.ts';
import { parseJson, type JsonObject } from '../../codec/json.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Entry } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import type { DatabaseId, Micros, Ref } from '../../values/value.ts';
import { addedAt } from './added-at.ts';
import { firstOfNative, NATIVE_INDEX, nativeRange } from './native-indexes.ts';

export const ROOT_DATABASE: DatabaseId = 0;

export interface DatabaseDefinition {
  readonly id: DatabaseId;
  readonly parent: DatabaseId;
  readonly name: string;
  readonly globalId: string;
  /** Holds databases and keys only. */
  readonly isContainer: boolean;
}

/** Most levels of nested databases when walking up. A longer chain means a damaged store. */
const DEPTH_MAX = 1000;

/** Undefined for the root, and if there is no database with this id. */
export function databaseById(reader: Reader, id: DatabaseId): DatabaseDefinition | undefined {
  if (id === ROOT_DATABASE) return undefined;
  return definitionIn(reader.range(nativeRange(NATIVE_INDEX.databases, ROOT_DATABASE, id, 1)));
}

/** The child of `parent` with this name. */
export function databaseByName(
  reader: Reader,
  parent: DatabaseId,
  name: string,
): DatabaseDefinition | undefined {
  return definitionIn(reader.range(nativeRange(NATIVE_INDEX.databasesByName, parent, name, 1)));
}

/** Finds a database anywhere below the root. */
export const databaseByGlobalId = (
  reader: Reader,
  globalId: string,
): DatabaseDefinition | undefined =>
  definitionIn(
    reader.range(nativeRange(NATIVE_INDEX.databasesByGlobalId, ROOT_DATABASE, globalId, 1)),
  );

/** The databases from the child of the root down to `id`. Empty for the root. Undefined if `id` or one of its ancestors is gone. */
export function databasePath(
  reader: Reader,
  id: DatabaseId,
): readonly DatabaseDefinition[] | undefined {
  const path: DatabaseDefinition[] = [];
  for (let at = id; at !== ROOT_DATABASE;) {
    const database = databaseById(reader, at);
    if (!database || path.length > DEPTH_MAX) return undefined;
    path.push(database);
    at = database.parent;
  }
  return path.reverse();
}

/**
 * Since when the path of `id` has named this database: the latest time at which it or one of its ancestors got its name. Zero for the root.
 * Before that time, the path may have named another database.
 */
export function namedSince(reader: Reader, id: DatabaseId): Micros {
  const since = eachElement(databasePath(reader, id) ?? [], ({ parent, name }) =>
    reader.range(nativeRange(NATIVE_INDEX.databasesByName, parent, name, 1)).map(addedAt),
  );
  return Math.max(0, ...since.flat());
}

/** Whether `id` is `ancestor` or below it. */
export function isWithin(reader: Reader, id: DatabaseId, ancestor: DatabaseId): boolean {
  if (id === ancestor) return true;
  const path = databasePath(reader, id);
  if (!path) return false;
  return ancestor === ROOT_DATABASE || path.some((each) => each.id === ancestor);
}

/** The number of the database that a ref to a database denotes. */
export const databaseIdOf = (ref: Ref): DatabaseId => Number(ref.id);

function definitionIn(entries: readonly Entry[]): DatabaseDefinition | undefined {
  const row = entries[0]?.row;
  if (!row) return undefined;
  const { database: parent, id } = decodeDocumentKey(row.key);
  // Only strings are read here, and stored text writes strings as JSON does.
  const json = parseJson(unpackVersion(String(row.value)).body);
  const fields: JsonObject = json instanceof Map ? json : new Map();
  const name = fields.get('name');
  const globalId = fields.get('global_id');
  return {
    id: Number(id),
    parent,
    name: typeof name === 'string' ? name : '',
    globalId: typeof globalId === 'string' ? globalId : '',
    isContainer: fields.get('container') === true,
  };
}

/** Databases that a step of a job looks at: few, because others wait for each step. */
const DATABASES_AT_ONCE = 64;

export interface SomeDatabases {
  readonly some: readonly DatabaseId[];
  /** The key at which to continue. Undefined: there are no further databases. */
  readonly next: Key | undefined;
}

/**
 * Numbers of databases whose keys end after `from`, in ascending order: the root, and those of which no ancestor has been deleted. A hub may
 * have so many that nothing may list all of them at once.
 * @param count number of databases that are looked at
 */
export function livingDatabases(
  reader: Reader,
  from: Key,
  count = DATABASES_AT_ONCE,
): SomeDatabases {
  const first = databaseFrom(from);
  const { lower } = nativeRange(NATIVE_INDEX.databases, ROOT_DATABASE, first, 1);
  const all = firstOfNative(NATIVE_INDEX.databases, ROOT_DATABASE);
  const found = reader.range({ ...all, lower, limit: count });
  const some = eachElement(found, ({ key }) => {
    const { database: parent, id } = decodeDocumentKey(key);
    return databasePath(reader, parent) ? Number(id) : [];
  }).flat();
  const last = found[count - 1];
  return {
    some: first === ROOT_DATABASE ? [ROOT_DATABASE, ...some] : some,
    next: last && after(databasePrefix(Number(decodeDocumentKey(last.key).id))),
  };
}
