/**
 * Makes and decodes all keys. The order of key bytes is the order of values (spec values 10), and no encoded value is a
 * prefix of another. Register of layouts and tags with pinned bytes: docs/store-format.md.
 */
import { Refusal } from '../errors.ts';
import {
  Ref,
  type Branded,
  type CollectionId,
  type DatabaseId,
  type Micros,
  type Value,
} from '../values/value.ts';
import { HEX } from './hex.ts';
import { encodeNumberTypes, readNumberTypes, restoreNumberTypes } from './number-types.ts';
import {
  delimitedText,
  flipped,
  int64,
  malformed,
  readByte,
  readInt64,
  readSafeInt64,
  readUint32,
  safeInt64,
  sixteenBytes,
  uint32,
  type Cursor,
} from './ordered-bytes.ts';
import { atEnd, encodeValue, END, readValue, skipValue, type ReadLambda } from './ordered.ts';

/**
 * Ordered bytes, one character per byte (U+0000…U+00FF): `<` on keys is byte order, and a key can be the key of a
 * `Map`. Only this file makes keys. Store adapters convert them to what their storage engine orders bytewise.
 */
export type Key = Branded<string, 'Key'>;

const asKey = (bytes: string): Key => bytes as Key;

/** Turns stored bytes back into a key. They must have been written as one. */
export const keyOfBytes = asKey;

// Primary keys: [database 4][collection 4][id 8], and in history [ts 8].
const DATABASE_BYTES = 4;
const DOCUMENT_KEY_BYTES = 16;
const HISTORY_KEY_BYTES = 24;

export const databasePrefix = (database: DatabaseId): Key => asKey(uint32(database));

/** The database number in the key of a document, a version or an index entry. */
export const databaseOf = (key: Key): DatabaseId => readUint32({ key, at: 0, mask: 0 });

/** The number of the first database whose keys do not all come before this key, which may be any bytes. */
export const databaseFrom = (key: Key): DatabaseId => databaseOf(asKey(key + uint32(0)));

/** The collection number in the key of a document, or the index number in the key of an index entry. */
export const numberOf = (key: Key): number => readUint32({ key, at: DATABASE_BYTES, mask: 0 });

/** A key without its database number: the same in every copy of the database, whatever number the database has there. */
export const withoutDatabase = (key: Key): Key => asKey(key.slice(DATABASE_BYTES));
export const withDatabase = (database: DatabaseId, rest: Key): Key =>
  asKey(uint32(database) + rest);

export const hexOfKey = (key: Key): string => {
  let hex = '';
  for (let i = 0; i < key.length; i++) hex += HEX[key.charCodeAt(i)];
  return hex;
};

/** @throws Refusal `local_data_loss` when the text is not hexadecimal */
export function keyOfHex(hex: string): Key {
  if (hex.length % 2 !== 0 || !/^[\da-f]*$/.test(hex)) malformed('it is not hexadecimal', 0);
  let bytes = '';
  for (let i = 0; i < hex.length; i += 2)
    bytes += String.fromCharCode(parseInt(hex.slice(i, i + 2), 16));
  return asKey(bytes);
}

export const collectionPrefix = (database: DatabaseId, collection: CollectionId): Key =>
  asKey(uint32(database) + uint32(collection));

export const documentKey = (database: DatabaseId, collection: CollectionId, id: bigint): Key =>
  asKey(sixteenBytes(database, collection, id));

export const historyKey = (
  database: DatabaseId,
  collection: CollectionId,
  id: bigint,
  ts: Micros,
): Key => asKey(documentKey(database, collection, id) + safeInt64(ts));

export interface DocumentAddress {
  readonly database: DatabaseId;
  readonly collection: CollectionId;
  readonly id: bigint;
}

/** @throws Refusal `local_data_loss` */
export function decodeDocumentKey(key: Key): DocumentAddress {
  if (key.length !== DOCUMENT_KEY_BYTES) malformed('not the length of a document key', key.length);
  return readDocumentAddress({ key, at: 0, mask: 0 });
}

/** The ref of the document that a document key or history key belongs to. @throws Refusal `local_data_loss` */
export function refOfKey(key: Key): Ref {
  if (key.length !== DOCUMENT_KEY_BYTES && key.length !== HISTORY_KEY_BYTES)
    malformed('not the length of a document key', key.length);
  const { database, collection, id } = readDocumentAddress({ key, at: 0, mask: 0 });
  return new Ref(database, collection, id);
}

/** The key of the document that a history key belongs to. */
export const documentKeyOf = (key: Key): Key => asKey(key.slice(0, DOCUMENT_KEY_BYTES));

/** @throws Refusal `local_data_loss` */
export function decodeHistoryKey(key: Key): DocumentAddress & { readonly ts: Micros } {
  if (key.length !== HISTORY_KEY_BYTES) malformed('not the length of a history key', key.length);
  const cursor: Cursor = { key, at: 0, mask: 0 };
  return { ...readDocumentAddress(cursor), ts: readSafeInt64(cursor) };
}

function readDocumentAddress(cursor: Cursor): DocumentAddress {
  const database = readUint32(cursor);
  const collection = readUint32(cursor);
  return { database, collection, id: readInt64(cursor) };
}

// Index entries: [database 4][index 4][terms … end][number types of terms][values …][id 8][collection 4][number types
// of values][ttl].

/** Prefix of all entries of an index. */
export const indexPrefix = (database: DatabaseId, index: number): Key =>
  asKey(uint32(database) + uint32(index));

const INDEX_PREFIX_BYTES = 8;

/** The prefix that an entry shares with all entries of its index, or a primary key with all keys of its collection. */
export const indexPrefixOf = (key: Key): Key => asKey(key.slice(0, INDEX_PREFIX_BYTES));

/** The `indexPrefixOf` all keys of `[lower, upper)`. Undefined if they belong to several indexes or collections. */
export function sharedIndexPrefix(lower: Key, upper: Key): Key | undefined {
  const prefix = indexPrefixOf(lower);
  if (prefix.length < INDEX_PREFIX_BYTES) return undefined;
  // Compared first, because most ranges do not reach the end of their index, and this costs less than `after`.
  return upper.startsWith(prefix) || upper <= after(prefix) ? prefix : undefined;
}

/** Prefix of all entries with exactly these terms. The terms 1 and 1.0 are different here. */
export function termsPrefix(database: DatabaseId, index: number, terms: readonly Value[]): Key {
  let key = indexPrefix(database, index) as string;
  for (const term of terms) key += encodeValue(term);
  return asKey(key + END + encodeNumberTypes(terms));
}

/**
 * Returns the `termsPrefix` at the start of these bytes, or undefined if there is none. Bytes have at most one such
 * prefix, because its own bytes determine where it ends.
 */
export function termsPrefixOf(bytes: string): Key | undefined {
  const cursor: Cursor = { key: bytes, at: INDEX_PREFIX_BYTES, mask: 0 };
  if (bytes.length <= INDEX_PREFIX_BYTES) return undefined;
  try {
    while (!atEnd(cursor)) skipValue(cursor);
    readNumberTypes(cursor);
  } catch (reason) {
    if (reason instanceof Refusal) return undefined;
    throw reason;
  }
  return asKey(bytes.slice(0, cursor.at));
}

/**
 * The `termsPrefix` that all keys of `[lower, upper)` start with. Undefined if there is none, or if it cannot be
 * determined.
 */
export function sharedTermsPrefix(lower: Key, upper: Key): Key | undefined {
  const terms = termsPrefixOf(lower);
  return terms !== undefined && upper <= after(terms) ? terms : undefined;
}

/** Prefix of the entries under `terms` whose first values equal these. The values 1 and 1.0 are equal here. */
export function valuesPrefix(
  terms: Key,
  values: readonly Value[],
  reverse: readonly boolean[],
): Key {
  let key = terms as string;
  for (const [index, value] of values.entries()) {
    const component = encodeValue(value);
    key += reverse[index] === true ? flipped(component) : component;
  }
  return asKey(key);
}

export interface IndexEntry {
  readonly database: DatabaseId;
  readonly index: number;
  readonly terms: readonly Value[];
  readonly values: readonly Value[];
  /** For each value whether it is in descending order; false for missing elements. */
  readonly reverse: readonly boolean[];
  readonly ref: Ref;
  /** The time, in µs, from which on the document no longer exists. */
  readonly ttl?: Micros | undefined;
}

const NO_TTL = '\x00';
const TTL = '\x01';

/** The key of an index entry. Its order is by values, then by ref; number types and ttl only make keys distinct. */
export const entryKey = (entry: IndexEntry): Key =>
  entryKeyBelow(termsPrefix(entry.database, entry.index, entry.terms), entry);

/** `entryKey` for terms that are encoded already. */
export const entryKeyBelow = (
  terms: Key,
  { values, reverse, ref, ttl }: Pick<IndexEntry, 'values' | 'reverse' | 'ref' | 'ttl'>,
): Key =>
  asKey(
    valuesPrefix(terms, values, reverse) +
      refBytes(ref) +
      encodeNumberTypes(values) +
      (ttl === undefined ? NO_TTL : TTL + safeInt64(ttl)),
  );

/** The bytes of a ref in an entry. They omit the database, which is that of the index. */
export const refBytes = (ref: Ref): string => int64(ref.id) + uint32(ref.collection);

/** Prefix of the entries under `values` that belong to this document. `rest`: the beginning of the bytes after the ref. */
export const refPrefix = (values: Key, ref: Ref, rest = ''): Key =>
  asKey(values + refBytes(ref) + rest);

export interface FoundEntry {
  readonly values: readonly Value[];
  readonly ref: Ref;
  readonly ttl: Micros | undefined;
}

/** @throws Refusal `local_data_loss` */
export function decodeEntry(key: Key, valueCount: number, reverse: readonly boolean[]): FoundEntry {
  const cursor: Cursor = { key, at: 0, mask: 0 };
  const database = readUint32(cursor);
  readUint32(cursor);
  while (!atEnd(cursor)) skipValue(cursor);
  readNumberTypes(cursor);
  const { refAt: _, ...found } = readTuple(cursor, database, valueCount, reverse, undefined);
  return found;
}

export interface FoundTuple extends FoundEntry {
  /** Offset in the key at which the values end and the ref begins. */
  readonly refAt: number;
}

/**
 * `decodeEntry` for an entry with known terms, which are not decoded again.
 * @param terms a result of `termsPrefix`
 * @throws Refusal `local_data_loss`
 */
export const decodeEntryBelow = (
  terms: Key,
  database: DatabaseId,
  key: Key,
  reverse: readonly boolean[],
  readLambda?: ReadLambda,
): FoundTuple =>
  readTuple({ key, at: terms.length, mask: 0 }, database, reverse.length, reverse, readLambda);

function readTuple(
  cursor: Cursor,
  database: DatabaseId,
  valueCount: number,
  reverse: readonly boolean[],
  readLambda: ReadLambda | undefined,
): FoundTuple {
  // Most tuples have few values, but an array that grows from empty allocates 17 elements at once.
  // oxlint-disable-next-line unicorn/no-new-array -- `Array.from` makes no room, it fills
  const values = new Array<Value>(valueCount);
  for (let index = 0; index < valueCount; index += 1) {
    cursor.mask = reverse[index] === true ? 0xff : 0;
    values[index] = readValue(cursor, readLambda);
  }
  const isReversed = cursor.mask !== 0;
  cursor.mask = 0;
  const refAt = cursor.at;
  const ref = readOwnRef(cursor, database, isReversed ? undefined : values[valueCount - 1]);
  const types = readNumberTypes(cursor);
  const ttl = readTtl(cursor);
  return { values: restoreNumberTypes(values, types), ref, ttl, refAt };
}

/** Length of the ref in an entry: id and collection. */
const OWN_REF_BYTES = 12;
const DATABASE_BYTES_IN_REF = 4;

/**
 * Reads the ref of an entry.
 * @param last the value before the ref, unless it is in descending order. Many indexes have the ref as their last
 * value: then the same object is returned
 */
function readOwnRef(cursor: Cursor, database: DatabaseId, last: Value | undefined): Ref {
  const { key, at } = cursor;
  if (last instanceof Ref && last.database === database && isRepeated(key, at)) {
    cursor.at = at + OWN_REF_BYTES;
    return last;
  }
  const id = readInt64(cursor);
  return new Ref(database, readUint32(cursor), id);
}

/** Whether the ref at `at` has the same bytes as the ref in the value that ends there. */
function isRepeated(key: string, at: number): boolean {
  const before = at - DATABASE_BYTES_IN_REF - OWN_REF_BYTES;
  for (let i = 0; i < OWN_REF_BYTES; i += 1)
    if (key.charCodeAt(before + i) !== key.charCodeAt(at + i)) return false;
  return true;
}

/** The prefix that an entry shares with entries of other documents that have the same terms and values. */
export function tuplePrefix(entry: Key, reverse: readonly boolean[]): Key {
  const cursor: Cursor = { key: entry, at: 0, mask: 0 };
  readUint32(cursor);
  readUint32(cursor);
  while (!atEnd(cursor)) skipValue(cursor);
  readNumberTypes(cursor);
  for (const isReversed of reverse) {
    cursor.mask = isReversed ? 0xff : 0;
    skipValue(cursor);
  }
  return asKey(entry.slice(0, cursor.at));
}

function readTtl(cursor: Cursor): Micros | undefined {
  const start = cursor.at;
  switch (readByte(cursor)) {
    case 0:
      return undefined;
    case 1:
      return readSafeInt64(cursor);
    default:
      return malformed('neither with nor without ttl', start);
  }
}

const HISTORY_TIMES_BYTES = 16;

/** The history key of an index entry that existed from `added` until just before `removed`. */
export const historyEntryKey = (entry: Key, added: Micros, removed: Micros): Key =>
  asKey(entry + safeInt64(added) + safeInt64(removed));

/** @throws Refusal `local_data_loss` */
export function decodeHistoryEntry(key: Key): {
  readonly entry: Key;
  readonly added: Micros;
  readonly removed: Micros;
} {
  const end = key.length - HISTORY_TIMES_BYTES;
  const cursor: Cursor = { key, at: Math.max(end, 0), mask: 0 };
  const added = readSafeInt64(cursor);
  return { entry: asKey(key.slice(0, end)), added, removed: readSafeInt64(cursor) };
}

/** The smallest key greater than all keys that start with `prefix`. */
export function after(prefix: Key): Key {
  let end = prefix.length;
  while (end > 0 && prefix.charCodeAt(end - 1) === 0xff) end -= 1;
  if (end === 0) malformed('nothing is above it', 0);
  return asKey(prefix.slice(0, end - 1) + String.fromCharCode(prefix.charCodeAt(end - 1) + 1));
}

/** The smallest key greater than this one: a scan continues after it. */
export const keyAfter = (key: Key): Key => asKey(key + LOWEST_BYTE);

/** Inverse of `keyAfter`. @throws Refusal `local_data_loss` when `keyAfter` did not make this key */
export function keyBefore(key: Key): Key {
  if (!key.endsWith(LOWEST_BYTE)) malformed('not the end of a scan', key.length);
  return asKey(key.slice(0, -LOWEST_BYTE.length));
}

const LOWEST_BYTE = '\x00';

/**
 * The part of a key after a prefix. `keyUnder` appends it to another prefix.
 * @throws Refusal `local_data_loss` when the key does not start with `prefix`
 */
export function keySuffix(key: Key, prefix: Key): Key {
  if (!key.startsWith(prefix)) malformed('it has another prefix', 0);
  return asKey(key.slice(prefix.length));
}

/** Inverse of `keySuffix`: the key that consists of this prefix and suffix. */
export const keyUnder = (prefix: Key, suffix: Key): Key => asKey(prefix + suffix);

/** Bounds below and above every key: no key starts with the highest byte. */
export const LOWEST_KEY: Key = asKey('');
export const HIGHEST_KEY: Key = asKey('\xff');

/** Key of a row in `meta` or `files`. */
export const metaKey = (name: string): Key => asKey(delimitedText(name));

/**
 * Key of a row in `sync`: the list it belongs to, then the parts that identify it there. Texts sort as texts, numbers
 * as numbers.
 * @param parts safe integers and texts
 */
export const syncKey = (list: string, ...parts: readonly (string | number)[]): Key =>
  asKey(
    delimitedText(list) +
      parts
        .map((part) => (typeof part === 'string' ? delimitedText(part) : safeInt64(part)))
        .join(''),
  );

/** The number after the list in a key made by `syncKey(list, number, …)`. @throws Refusal `local_data_loss` */
export const syncNumberOf = (key: Key, list: string): number =>
  readSafeInt64({ key, at: syncKey(list).length, mask: 0 });

/** Key of a row in `log`: time of its last record, then a number that distinguishes rows of the same time. */
export const logKey = (ts: Micros, sequence: number): Key =>
  asKey(safeInt64(ts) + safeInt64(sequence));
