const encoder = new TextEncoder();
const scratch = new Uint8Array(64 * 1024);
/** A code unit is three bytes at most. */
const PART = scratch.length / 4;
/** For shorter texts a loop is faster than the call. */
const SHORT = 64;

/** Bytes of a well-formed text as UTF-8. Part by part: Chromium copies all that it is given, even if it encodes little of it. */
export function utf8Length(text: string): number {
  if (text.length < SHORT) return shortLength(text);
  let bytes = 0;
  for (let at = 0; at < text.length;) {
    const end = partEnd(text, at + PART);
    bytes += encoder.encodeInto(text.slice(at, end), scratch).written;
    at = end;
  }
  return bytes;
}

/** Where a part may end: there, or one further, where the two halves of a character would be cut apart. */
export function partEnd(text: string, end: number): number {
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

/** A well-formed text as UTF-8. */
export const utf8Bytes = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined: the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
