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
  /** The text of a string goes on in the next part, which begins with an escaped character. */
  let isEscaped = false;
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 1) {
      if (isInText) {
        const end = endOfText(part, at, isEscaped);
        isEscaped = end < 0 && isEscapedAt(part, part.length, at, isEscaped);
        isInText = end < 0;
        if (isInText) break;
        at = end;
        continue;
      }
      const byte = part[at];
      if (byte === QUOTE) isInText = true;
      else if (byte === COMMA || byte === BRACE || byte === BRACKET) values += 1;
    }
  }
  return values;
}

/** Where the quote is that ends it, found as fast as the system finds a byte: texts are most of what is long. -1: in another part. */
function endOfText(part: Uint8Array, from: number, isEscaped: boolean): number {
  let end = part.indexOf(QUOTE, from);
  while (end >= 0 && isEscapedAt(part, end, from, isEscaped)) end = part.indexOf(QUOTE, end + 1);
  return end;
}

/** Behind an odd number of backslashes. @param from the text begins, or goes on, there @param isEscaped at its begin */
function isEscapedAt(part: Uint8Array, at: number, from: number, isEscaped: boolean): boolean {
  let slashes = 0;
  while (at - slashes > from && part[at - slashes - 1] === BACKSLASH) slashes += 1;
  const isFromStart = at - slashes === from;
  return (slashes + (isFromStart && isEscaped ? 1 : 0)) % 2 === 1;
}
