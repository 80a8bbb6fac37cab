/** Keys, values and arrays as the PostgreSQL protocol encodes them. */
import { type Key, keyOfBytes } from '../../src/codec/key.ts';

const OIDS = { smallint: 21, integer: 23, text: 25, bytea: 17 } as const;

/** An array parameter, encoded: header of one dimension, then each element after its length. */
function arrayOf(oid: number, elements: readonly (Buffer | null)[]): Buffer {
  const header = Buffer.alloc(elements.length === 0 ? 12 : 20);
  header.writeInt32BE(elements.length === 0 ? 0 : 1, 0);
  header.writeInt32BE(elements.includes(null) ? 1 : 0, 4);
  header.writeInt32BE(oid, 8);
  if (elements.length === 0) return header;
  header.writeInt32BE(elements.length, 12);
  header.writeInt32BE(1, 16);
  const parts: Buffer[] = [header];
  for (const element of elements) {
    const length = Buffer.allocUnsafe(4);
    length.writeInt32BE(element ? element.length : -1);
    parts.push(length);
    if (element) parts.push(element);
  }
  return Buffer.concat(parts);
}

export const byteArrays = (elements: readonly (Buffer | null)[]): Buffer =>
  arrayOf(OIDS.bytea, elements);

export const texts = (elements: readonly (string | null)[]): Buffer =>
  arrayOf(
    OIDS.text,
    elements.map((each) => (each === null ? null : Buffer.from(each, 'utf8'))),
  );

const numbers =
  (oid: number, byteCount: number) =>
  (elements: readonly number[]): Buffer =>
    arrayOf(
      oid,
      elements.map((each) => {
        const bytes = Buffer.allocUnsafe(byteCount);
        bytes.writeIntBE(each, 0, byteCount);
        return bytes;
      }),
    );

export const smallints = numbers(OIDS.smallint, 2);
export const integers = numbers(OIDS.integer, 4);

/** Keys have one character per byte. */
export const keyBytes = (key: string): Buffer => Buffer.from(key, 'latin1');

/** Decodes a `bytea` column: `\x` and two hex digits per byte or, if `bytea_output` is `escape`, text with some bytes in octal. */
export const bytesOf = (column: string): Buffer =>
  column.startsWith('\\x')
    ? Buffer.from(column.slice(2), 'hex')
    : Buffer.from(column.replace(ESCAPED, unescaped), 'latin1');

const ESCAPED = /\\(\\|\d{3})/g;

const unescaped = (_: string, byte: string): string =>
  byte === '\\' ? byte : String.fromCharCode(Number.parseInt(byte, 8));

export const keyOf = (column: string): Key => keyOfBytes(bytesOf(column).toString('latin1'));

/** The entries of a row in one column: each after its length, four bytes, big-endian. */
export function packEntries(entries: readonly Key[]): Buffer {
  let length = 0;
  for (const entry of entries) length += 4 + entry.length;
  const packed = Buffer.allocUnsafe(length);
  let at = 0;
  for (const entry of entries) {
    at = packed.writeUInt32BE(entry.length, at);
    at += packed.write(entry, at, 'latin1');
  }
  return packed;
}

export function unpackEntries(packed: Buffer): Key[] {
  const entries: Key[] = [];
  for (let at = 0; at < packed.length;) {
    const end = at + 4 + packed.readUInt32BE(at);
    entries.push(keyOfBytes(packed.toString('latin1', at + 4, end)));
    at = end;
  }
  return entries;
}

/** A value as the columns `kind`, `body` and `bytes`. */
export interface ValueColumns {
  readonly kind: number;
  readonly body: string | null;
  readonly bytes: Buffer | null;
}

const KIND = { text: 0, bytes: 1, units: 2 } as const;

const NOT_STORABLE_AS_TEXT = /[\0\p{Surrogate}]/u;

/** Text is stored in a text column unless PostgreSQL refuses it there: NUL, half a surrogate pair. */
export function valueColumns(value: string | Uint8Array): ValueColumns {
  if (typeof value !== 'string')
    return {
      kind: KIND.bytes,
      body: null,
      bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
    };
  if (!NOT_STORABLE_AS_TEXT.test(value)) return { kind: KIND.text, body: value, bytes: null };
  return { kind: KIND.units, body: null, bytes: Buffer.from(value, 'utf16le') };
}

export function valueOf(
  kind: string | null | undefined,
  body: string | null | undefined,
  bytes: string | null | undefined,
): string | Uint8Array {
  if (typeof body === 'string') return body;
  const raw = bytesOf(bytes ?? '\\x');
  return Number(kind) === KIND.units ? raw.toString('utf16le') : new Uint8Array(raw);
}
