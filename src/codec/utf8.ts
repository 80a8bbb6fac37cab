const encoder = new TextEncoder();
const scratch = new Uint8Array(64 * 1024);
/** For shorter texts a loop is faster than the call. */
const SHORT = 64;

/** Bytes of a well-formed text as UTF-8. */
export function utf8Length(text: string): number {
  if (text.length < SHORT) return shortLength(text);
  let bytes = 0;
  for (let at = 0; at < text.length;) {
    const rest = at === 0 ? text : text.slice(at);
    const { read, written } = encoder.encodeInto(rest, scratch);
    at += read;
    bytes += written;
  }
  return bytes;
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
export const utf8Bytes = (text: string): Uint8Array => encoder.encode(text);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined: the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
