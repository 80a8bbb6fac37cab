const encoder = new TextEncoder();
const scratch = new Uint8Array(64 * 1024);
/** Length of a part in UTF-16 code units. One unit takes at most three bytes. */
const PART = scratch.length / 4;
/** Texts shorter than this are measured in a loop, which is faster than the call. */
const SHORT = 64;

/**
 * Number of bytes of a well-formed text in UTF-8. Measured in parts, because Chromium copies the whole text it is given
 * even when it encodes little of it.
 */
export function utf8Length(text: string): number {
  if (text.length < SHORT) return shortLength(text);
  let bytes = 0;
  for (const part of textParts(text)) bytes += encoder.encodeInto(part, scratch).written;
  return bytes;
}

/** Cuts a text into parts of `length` UTF-16 code units, or one more: a surrogate pair is not split. */
export function textParts(text: string, length = PART): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = partEnd(text, at + length);
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

/** Where a part that should end at `end` may end: one unit later if `end` would split a surrogate pair. */
function partEnd(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code < 0xdc00 ? end + 1 : end;
}

function shortLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate is half of a character of four bytes, so it counts as two.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}

/** Encodes a well-formed text as UTF-8. */
export const utf8Bytes = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8. Returns undefined when the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
