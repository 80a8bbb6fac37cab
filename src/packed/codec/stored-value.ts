/** The index entries and the value of a row as bytes: the body of an item in a row family. */
import { type Key, keyOfBytes } from '../../codec/key.ts';
import { wellFormed } from '../../codec/json.ts';
import { utf8Text } from '../../codec/utf8.ts';
import type { Row } from '../../store/port.ts';
import { ByteReader, Malformed } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { sharedLength } from '../../values/shared-length.ts';

/** How a value is stored. A used number never gets another meaning. */
const KIND = { utf8: 0, utf16: 1, bytes: 2 } as const;

export function writeRowBody(out: ByteWriter, { entries, value }: Omit<Row, 'key'>): void {
  out.number(entries.length);
  let former = '';
  for (const entry of entries) {
    const shared = sharedLength(former, entry);
    out.number(shared);
    out.number(entry.length - shared);
    out.raw(entry, shared);
    former = entry;
  }
  if (typeof value === 'string') writeText(out, value);
  else {
    out.byte(KIND.bytes);
    out.append(value);
  }
}

/** @throws Malformed */
export function readRowBody(key: Key, bytes: Uint8Array): Row {
  const reader = new ByteReader(bytes);
  const entries: Key[] = [];
  let former = '';
  for (let count = reader.number(); count > 0; count -= 1) {
    const shared = reader.number();
    former = former.slice(0, shared) + reader.delimited();
    entries.push(keyOfBytes(former));
  }
  return { key, entries, value: readValue(reader.byte(), bytes.subarray(reader.at)) };
}

function writeText(out: ByteWriter, text: string): void {
  const start = out.length;
  out.byte(KIND.utf8);
  // UTF-8 cannot encode a lone surrogate. A text with as many bytes as characters is ASCII and contains none.
  if (out.utf8(text) === text.length || wellFormed(text) === text) return;
  out.length = start;
  out.byte(KIND.utf16);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    out.byte(unit & 0xff);
    out.byte(unit >>> 8);
  }
}

function readValue(kind: number, bytes: Uint8Array): string | Uint8Array {
  switch (kind) {
    case KIND.utf8: {
      const text = utf8Text(bytes);
      if (text === undefined) throw new Malformed('a text is not UTF-8');
      return text;
    }
    case KIND.utf16:
      return utf16Text(bytes);
    case KIND.bytes:
      return bytes.slice();
    default:
      throw new Malformed('a value is of an unknown kind');
  }
}

const UNITS_PER_CALL = 4096;

function utf16Text(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes.length >>> 1);
  for (const at of units.keys()) units[at] = (bytes[2 * at] ?? 0) | ((bytes[2 * at + 1] ?? 0) << 8);
  let text = '';
  for (let at = 0; at < units.length; at += UNITS_PER_CALL)
    text += Reflect.apply(String.fromCharCode, null, units.subarray(at, at + UNITS_PER_CALL));
  return text;
}
