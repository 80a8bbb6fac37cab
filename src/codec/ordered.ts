/**
 * Values as bytes that sort like `compareValues`. They are self-delimiting: no encoded value is a prefix of another.
 * Integers and Doubles have one common order, so 1 and 1.0 have the same bytes; `number-types.ts` stores their types.
 * Register of tags with pinned bytes: docs/store-format.md. Spec: values 10.
 */
import { unreachable } from '../errors.ts';
import { orderedView, sortedKeys, type Ordered } from '../values/compare.ts';
import { INT64_MAX } from '../values/number.ts';
import { splitTime, timeOfParts } from '../values/time.ts';
import {
  Bytes,
  DateValue,
  double,
  Double,
  integer,
  isArray,
  isObject,
  PENDING,
  Ref,
  UnresolvedRef,
  Uuid,
  type Lambda,
  type ObjectValue,
  type Value,
} from '../values/value.ts';
import {
  bytesOf,
  delimited,
  delimitedText,
  flipped,
  float64,
  int64,
  malformed,
  rawOf,
  readByte,
  readDelimited,
  readFloat64,
  readInt64,
  readSafeInt64,
  readText,
  readUint16,
  readUint32,
  safeInt64,
  uint16,
  uint32,
  type Cursor,
} from './ordered-bytes.ts';

/** First byte of every encoded value. Unused numbers are free for new tags; a used tag is never reused. */
export const TAG = {
  /** Ends arrays and objects. Sorts below every value. */
  end: 0x04,
  number: 0x10,
  bytes: 0x18,
  string: 0x20,
  array: 0x28,
  object: 0x30,
  ref: 0x38,
  unresolved: 0x3c,
  time: 0x40,
  date: 0x48,
  lambda: 0x50,
  pending: 0x58,
  uuid: 0x60,
  false: 0x68,
  true: 0x70,
  null: 0x78,
} as const;

const character = (tag: number): string => String.fromCharCode(tag);
const NUMBER = character(TAG.number);
const STRING = character(TAG.string);
const NULL = character(TAG.null);
const TRUE = character(TAG.true);
const FALSE = character(TAG.false);
export const END = character(TAG.end);

/** Encodes any value as ordered, self-delimiting bytes. */
export function encodeValue(value: Value): string {
  switch (typeof value) {
    case 'string':
      return STRING + delimitedText(value);
    case 'number':
      return NUMBER + float64(value) + NO_REST;
    case 'boolean':
      return value ? TRUE : FALSE;
    case 'bigint':
      return encodeBigInteger(value);
    default:
      return value === null ? NULL : encodeStructured(orderedView(value));
  }
}

/** Inverts the bytes of an encoded value, so that it sorts in descending order. */
export const encodeReversed = (component: string): string => flipped(component);

// Difference between an int64 and its nearest double: at most 512 either way, 0 for doubles and for integers up to 2^53.
const REST_ZERO = 0x8000;
const NO_REST = uint16(REST_ZERO);

function encodeBigInteger(value: bigint): string {
  const nearest = Number(value);
  return NUMBER + float64(nearest) + uint16(Number(value - BigInt(nearest)) + REST_ZERO);
}

function encodeStructured(value: Ordered): string {
  if (typeof value !== 'object' || value === null) return encodeValue(value);
  if (isArray(value)) return encodeArray(value);
  if (isObject(value)) return encodeObject(value);
  switch (value.kind) {
    case 'double':
      return NUMBER + float64(value.value) + NO_REST;
    case 'bytes':
      return character(TAG.bytes) + delimited(rawOf(value.bytes));
    case 'ref':
      return (
        character(TAG.ref) + int64(value.id) + uint32(value.collection) + uint32(value.database)
      );
    case 'unresolved':
      return (
        character(TAG.unresolved) +
        delimitedText(value.what) +
        delimitedText(value.name) +
        delimitedText(value.wire)
      );
    case 'time': {
      const { seconds, nanos } = splitTime(value);
      return character(TAG.time) + int64(seconds) + uint32(nanos);
    }
    case 'date':
      return character(TAG.date) + safeInt64(value.day);
    case 'lambda':
      return character(TAG.lambda) + delimitedText(value.wire) + delimitedText(value.apiVersion);
    case 'pending':
      return character(TAG.pending);
    case 'uuid':
      return character(TAG.uuid) + delimitedText(value.text);
    default:
      return unreachable(value);
  }
}

function encodeArray(items: readonly Value[]): string {
  let bytes = character(TAG.array);
  for (const item of items) bytes += encodeValue(item);
  return bytes + END;
}

function encodeObject(object: ObjectValue): string {
  let bytes = character(TAG.object);
  for (const key of sortedKeys(object)) {
    bytes += STRING + delimitedText(key) + encodeValue(object.get(key) ?? null);
  }
  return bytes + END;
}

/** Makes a lambda from its wire text. Needed only where keys may contain lambdas. */
export type ReadLambda = (wire: string, apiVersion: string) => Lambda;

const refuseLambda: ReadLambda = () => malformed('a lambda where none is read', 0);

/**
 * Decodes the value at the cursor. Integral numbers within int64 come back as Integers, sets and documents as plain
 * objects with sorted keys, actions as strings: the bytes do not distinguish them.
 * @throws Refusal `local_data_loss` for bytes that no encoder wrote
 */
export function readValue(cursor: Cursor, readLambda: ReadLambda = refuseLambda): Value {
  const start = cursor.at;
  const tag = readByte(cursor);
  switch (tag) {
    case TAG.number:
      return readNumber(cursor);
    case TAG.string:
      return readText(cursor);
    case TAG.array:
      return readItems(cursor, readLambda);
    case TAG.object:
      return readMembers(cursor, readLambda);
    case TAG.false:
      return false;
    case TAG.true:
      return true;
    case TAG.null:
      return null;
    default:
      return readKinded(cursor, tag, start, readLambda);
  }
}

function readKinded(cursor: Cursor, tag: number, start: number, readLambda: ReadLambda): Value {
  switch (tag) {
    case TAG.bytes:
      return new Bytes(bytesOf(readDelimited(cursor)));
    case TAG.ref: {
      const id = readInt64(cursor);
      const collection = readUint32(cursor);
      return new Ref(readUint32(cursor), collection, id);
    }
    case TAG.unresolved:
      return readUnresolved(cursor);
    case TAG.time: {
      const seconds = readInt64(cursor);
      return timeOfParts(seconds, readUint32(cursor));
    }
    case TAG.date:
      return new DateValue(readSafeInt64(cursor));
    case TAG.lambda: {
      const wire = readText(cursor);
      return readLambda(wire, readText(cursor));
    }
    case TAG.pending:
      return PENDING;
    case TAG.uuid:
      return new Uuid(readText(cursor));
    default:
      return malformed(`unknown tag ${tag.toString(16)}`, start);
  }
}

function readUnresolved(cursor: Cursor): UnresolvedRef {
  // The encoder writes no other kinds.
  const what = readText(cursor) as UnresolvedRef['what'];
  const name = readText(cursor);
  return new UnresolvedRef(what, name, readText(cursor));
}

function readNumber(cursor: Cursor): Value {
  const nearest = readFloat64(cursor);
  const rest = readUint16(cursor) - REST_ZERO;
  if (!Number.isInteger(nearest) || Object.is(nearest, -0)) return double(nearest);
  if (rest === 0 && Number.isSafeInteger(nearest)) return nearest;
  const exact = BigInt(nearest) + BigInt(rest);
  return exact > INT64_MAX || exact < -INT64_MAX - 1n ? new Double(nearest) : integer(exact);
}

function readItems(cursor: Cursor, readLambda: ReadLambda): readonly Value[] {
  const items: Value[] = [];
  while (!atEnd(cursor)) items.push(readValue(cursor, readLambda));
  return items;
}

function readMembers(cursor: Cursor, readLambda: ReadLambda): ObjectValue {
  const members = new Map<string, Value>();
  while (!atEnd(cursor)) {
    const start = cursor.at;
    if (readByte(cursor) !== TAG.string) malformed('a member without a key', start);
    const key = readText(cursor);
    members.set(key, readValue(cursor, readLambda));
  }
  return members;
}

/** Moves past the end marker of an array or object. Returns false if there is none at the cursor. */
export function atEnd(cursor: Cursor): boolean {
  const isEnd = readByte(cursor) === TAG.end;
  if (!isEnd) cursor.at -= 1;
  return isEnd;
}

/** Moves past the value at the cursor. */
export function skipValue(cursor: Cursor): void {
  const start = cursor.at;
  const tag = readByte(cursor);
  switch (tag) {
    case TAG.false:
    case TAG.true:
    case TAG.null:
    case TAG.pending:
      return;
    case TAG.number:
      return skip(cursor, 10);
    case TAG.ref:
      return skip(cursor, 16);
    case TAG.time:
      return skip(cursor, 12);
    case TAG.date:
      return skip(cursor, 8);
    case TAG.string:
    case TAG.bytes:
    case TAG.uuid:
      return skipTexts(cursor, 1);
    case TAG.lambda:
      return skipTexts(cursor, 2);
    case TAG.unresolved:
      return skipTexts(cursor, 3);
    case TAG.array:
    case TAG.object:
      // The keys of an object are encoded like strings.
      while (!atEnd(cursor)) skipValue(cursor);
      return;
    default:
      malformed(`unknown tag ${tag.toString(16)}`, start);
  }
}

function skip(cursor: Cursor, count: number): void {
  cursor.at += count;
  if (cursor.at > cursor.key.length) malformed('it ends early', cursor.key.length);
}

function skipTexts(cursor: Cursor, count: number): void {
  for (let text = 0; text < count; text += 1) readDelimited(cursor);
}
