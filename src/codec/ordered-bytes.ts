/** Fixed-width numbers and self-delimiting text as ordered bytes, one character per byte. */
import { Refusal } from '../errors.ts';
import { wellFormed } from './json.ts';
import { utf8Text } from './utf8.ts';

const view = new DataView(new ArrayBuffer(8));
const bytes = new Uint8Array(view.buffer);

const eightBytes = (): string =>
  String.fromCharCode(
    bytes[0] ?? 0,
    bytes[1] ?? 0,
    bytes[2] ?? 0,
    bytes[3] ?? 0,
    bytes[4] ?? 0,
    bytes[5] ?? 0,
    bytes[6] ?? 0,
    bytes[7] ?? 0,
  );

/** An unsigned integer in 2 bytes. */
export const uint16 = (value: number): string => String.fromCharCode(value >>> 8, value & 0xff);

/** An unsigned integer in 4 bytes. */
export const uint32 = (value: number): string =>
  String.fromCharCode(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);

/** A signed integer in 8 bytes. */
export function int64(value: bigint): string {
  view.setBigInt64(0, value);
  bytes[0] = (bytes[0] ?? 0) ^ 0x80;
  return eightBytes();
}

/**
 * Two `uint32`, then an `int64`, in one call: a concatenated text would have to be flattened before it can be used to
 * look up a key.
 */
export function sixteenBytes(first: number, second: number, last: bigint): string {
  view.setBigInt64(0, last);
  return String.fromCharCode(
    first >>> 24,
    (first >>> 16) & 0xff,
    (first >>> 8) & 0xff,
    first & 0xff,
    second >>> 24,
    (second >>> 16) & 0xff,
    (second >>> 8) & 0xff,
    second & 0xff,
    (bytes[0] ?? 0) ^ 0x80,
    bytes[1] ?? 0,
    bytes[2] ?? 0,
    bytes[3] ?? 0,
    bytes[4] ?? 0,
    bytes[5] ?? 0,
    bytes[6] ?? 0,
    bytes[7] ?? 0,
  );
}

/** A signed safe integer in 8 bytes: the same bytes as `int64`. */
export function safeInt64(value: number): string {
  const high = Math.floor(value / 0x1_0000_0000);
  view.setUint32(0, high + 0x8000_0000);
  view.setUint32(4, value - high * 0x1_0000_0000);
  return eightBytes();
}

const NAN_BITS = 0x7ff8_0000;

/** A double in 8 bytes, in the order -Infinity … -0, 0 … Infinity, NaN. */
export function float64(value: number): string {
  if (Number.isNaN(value)) {
    view.setUint32(0, NAN_BITS);
    view.setUint32(4, 0);
  } else view.setFloat64(0, value);
  // IEEE 754 orders negative numbers by magnitude. With all bits inverted the greater magnitude comes first.
  if ((bytes[0] ?? 0) < 0x80) bytes[0] = (bytes[0] ?? 0) | 0x80;
  else for (let at = 0; at < 8; at += 1) bytes[at] = ~(bytes[at] ?? 0);
  return eightBytes();
}

/** A position for reading. With `mask` 0xff, inverted bytes are read. */
export interface Cursor {
  readonly key: string;
  at: number;
  mask: 0 | 0xff;
}

export function malformed(what: string, at: number): never {
  throw new Refusal('local_data_loss', `A stored key is corrupt: ${what} at byte ${at}.`);
}

export function readByte(cursor: Cursor): number {
  const byte = byteAt(cursor, cursor.at);
  cursor.at += 1;
  return byte;
}

function byteAt({ key, mask }: Cursor, at: number): number {
  const unit = key.charCodeAt(at);
  if (!(unit <= 0xff)) malformed(Number.isNaN(unit) ? 'it ends early' : 'no byte', at);
  return unit ^ mask;
}

/** Makes no call per byte, because it runs for the id of every element of a page. */
function readEight(cursor: Cursor): void {
  const { key, at, mask } = cursor;
  for (let i = 0; i < 8; i += 1) {
    const unit = key.charCodeAt(at + i);
    bytes[i] = unit <= 0xff ? unit ^ mask : byteAt(cursor, at + i);
  }
  cursor.at = at + 8;
}

export const readUint16 = (cursor: Cursor): number => (readByte(cursor) << 8) | readByte(cursor);

export function readUint32(cursor: Cursor): number {
  const { key, at, mask } = cursor;
  let value = 0;
  for (let i = at; i < at + 4; i += 1) {
    const unit = key.charCodeAt(i);
    value = value * 0x100 + (unit <= 0xff ? unit ^ mask : byteAt(cursor, i));
  }
  cursor.at = at + 4;
  return value;
}

export function readInt64(cursor: Cursor): bigint {
  readEight(cursor);
  bytes[0] = (bytes[0] ?? 0) ^ 0x80;
  return view.getBigInt64(0);
}

export function readSafeInt64(cursor: Cursor): number {
  const start = cursor.at;
  const value = (readUint32(cursor) - 0x8000_0000) * 0x1_0000_0000 + readUint32(cursor);
  if (!Number.isSafeInteger(value)) malformed('an integer beyond 53 bits', start);
  return value;
}

export function readFloat64(cursor: Cursor): number {
  readEight(cursor);
  if ((bytes[0] ?? 0) >= 0x80) bytes[0] = (bytes[0] ?? 0) & 0x7f;
  else for (let at = 0; at < 8; at += 1) bytes[at] = ~(bytes[at] ?? 0);
  return view.getFloat64(0);
}

/** Ends delimited text and bytes. A 00 inside them is written as 00 FF, so this pair occurs only at the end. */
const END = '\x00\x01';
const ESCAPED_ZERO = '\x00\xff';

/** Makes bytes self-delimiting: no result is a prefix of another. */
export const delimited = (raw: string): string =>
  (raw.includes('\x00') ? raw.replaceAll('\x00', ESCAPED_ZERO) : raw) + END;

/** Text as delimited UTF-8. */
export const delimitedText = (text: string): string =>
  isPlain(text) ? text + END : delimited(utf8(wellFormed(text)));

/** Whether the text is ASCII without NUL: its bytes need no encoding and no escapes. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0 || unit > 0x7f) return false;
  }
  return true;
}

/** Well-formed text as UTF-8, one character per byte. */
function utf8(text: string): string {
  let raw = '';
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) raw += character;
    else if (point < 0x800) raw += String.fromCharCode(0xc0 | (point >> 6), tail(point));
    else if (point < 0x1_0000)
      raw += String.fromCharCode(0xe0 | (point >> 12), tail(point >> 6), tail(point));
    else
      raw += String.fromCharCode(
        0xf0 | (point >> 18),
        tail(point >> 12),
        tail(point >> 6),
        tail(point),
      );
  }
  return raw;
}

const tail = (point: number): number => 0x80 | (point & 0x3f);

const FLIPPED = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte ^ 0xff));

/** Inverts all bits, which reverses the order. */
export function flipped(raw: string): string {
  let result = '';
  for (let at = 0; at < raw.length; at += 1) result += FLIPPED[raw.charCodeAt(at)] ?? '';
  return result;
}

/** Reads delimited bytes and returns them without escapes. */
export function readDelimited(cursor: Cursor): string {
  const { key, at } = cursor;
  const end = key.indexOf(cursor.mask ? '\xff\xfe' : END, at);
  if (end < 0) malformed('text without an end', at);
  cursor.at = end + 2;
  const raw = cursor.mask ? flipped(key.slice(at, end)) : key.slice(at, end);
  return raw.includes('\x00') ? raw.replaceAll(ESCAPED_ZERO, '\x00') : raw;
}

export function readText(cursor: Cursor): string {
  const start = cursor.at;
  const raw = readDelimited(cursor);
  if (isPlain(raw)) return raw;
  return utf8Text(bytesOf(raw)) ?? malformed('invalid UTF-8', start);
}

/** Converts text with one character per byte to bytes. */
export const bytesOf = (raw: string): Uint8Array =>
  Uint8Array.from(raw, (character) => character.charCodeAt(0));

const CHUNK = 8192;

/** Converts bytes to text with one character per byte. */
export function rawOf(source: Uint8Array): string {
  let raw = '';
  for (let at = 0; at < source.length; at += CHUNK) {
    raw += String.fromCharCode(...source.subarray(at, at + CHUNK));
  }
  return raw;
}
