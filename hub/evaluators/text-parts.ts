/** Text that came as UTF-8 in parts. A long one is joined and decoded by the thread that executes it, not by the one that answers all. */
import { isUtf8 } from 'node:buffer';
import { LIMITS } from '../../src/limits.ts';

export type TextParts = readonly Uint8Array<ArrayBuffer>[];

/** In place of bytes that are not UTF-8: no JSON parser accepts it. */
const NOT_TEXT = '\uFFFD';

/** Undefined: there are none. */
export function textOf(parts: TextParts): string | undefined {
  const bytes = joined(parts);
  return bytes && (isUtf8(bytes) ? bytes.toString() : NOT_TEXT);
}

/** Undefined: there are none. */
export function joined(parts: TextParts): Buffer | undefined {
  const [first] = parts;
  if (first === undefined || parts.length > 1) return first && Buffer.concat(parts);
  return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
}

export const isLong = (parts: TextParts): boolean =>
  parts.reduce((sum, { byteLength }) => sum + byteLength, 0) > LIMITS.sliceChars;

/** As bytes that nothing else uses, so that their memory can be given to a thread in place of a copy. */
export const ownBytes = (part: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  part.byteLength === part.buffer.byteLength ? part : new Uint8Array(part);

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

/** About how many values there are in JSON text: brackets, braces and commas outside of strings. */
export function valuesIn(parts: TextParts): number {
  let values = 0;
  let isInText = false;
  /** The first byte of the next part is escaped by the last of this one. */
  let skipped = 0;
  for (const part of parts) {
    let at = skipped;
    for (; at < part.length; at += 1) {
      const byte = part[at];
      if (byte === QUOTE) isInText = !isInText;
      else if (isInText) {
        if (byte === BACKSLASH) at += 1;
      } else if (byte === COMMA || byte === BRACE || byte === BRACKET) values += 1;
    }
    skipped = at - part.length;
  }
  return values;
}
