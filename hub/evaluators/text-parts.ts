/** Text that arrived as UTF-8 in parts. A long text is joined and decoded by the thread that executes it, to spare the main thread. */
import { isUtf8 } from 'node:buffer';
import { LIMITS } from '../../src/limits.ts';

export type TextParts = readonly Uint8Array<ArrayBuffer>[];

/** Returned instead of bytes that are not valid UTF-8, because every JSON parser rejects it. */
const NOT_TEXT = '\uFFFD';

/** @returns undefined if there are no parts */
export function textOf(parts: TextParts): string | undefined {
  const bytes = joined(parts);
  return bytes && (isUtf8(bytes) ? bytes.toString() : NOT_TEXT);
}

/** @returns undefined if there are no parts */
export function joined(parts: TextParts): Buffer | undefined {
  const [first] = parts;
  if (first === undefined || parts.length > 1) return first && Buffer.concat(parts);
  return Buffer.from(first.buffer, first.byteOffset, first.byteLength);
}

export const bytesIn = (parts: TextParts): number =>
  parts.reduce((sum, { byteLength }) => sum + byteLength, 0);

export const isLong = (parts: TextParts): boolean => bytesIn(parts) > LIMITS.longTextChars;

/** Returns the bytes in a buffer that contains nothing else, so that the buffer can be transferred to a thread without copying. */
export const ownBytes = (part: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  part.byteLength === part.buffer.byteLength ? part : new Uint8Array(part);

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

/** Estimates the number of values in JSON text: counts brackets, braces and commas outside of strings. */
export function valuesIn(parts: TextParts): number {
  let values = 0;
  let isInText = false;
  /** 1 if the first byte of the next part is escaped by the last byte of this part. */
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
