/** Base64 encoding and decoding, in the standard and the URL-safe alphabet. */

const STANDARD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const URL_SAFE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Encodes bytes in the standard alphabet, with padding. */
export const encodeBase64 = (bytes: Uint8Array): string => encode(bytes, STANDARD, '=');

/** Encodes bytes in the URL-safe alphabet, without padding. */
export const encodeBase64Url = (bytes: Uint8Array): string => encode(bytes, URL_SAFE, '');

function encode(bytes: Uint8Array, alphabet: string, padding: string): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const bits = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += alphabet.charAt(bits >> 18) + alphabet.charAt((bits >> 12) & 63);
    text += left > 1 ? alphabet.charAt((bits >> 6) & 63) : padding;
    text += left > 2 ? alphabet.charAt(bits & 63) : padding;
  }
  return text;
}

const SIX_BITS = sixBits();

function sixBits(): Int8Array {
  const table = new Int8Array(128).fill(-1);
  for (let bits = 0; bits < 64; bits += 1) {
    table[STANDARD.charCodeAt(bits)] = bits;
    table[URL_SAFE.charCodeAt(bits)] = bits;
  }
  return table;
}

/** Decodes base64 in either alphabet, padded or not. Returns undefined when the text is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const end = lengthWithoutPadding(text);
  if (end === undefined || end % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((end * 3) / 4));
  let bits = 0;
  let count = 0;
  let written = 0;
  for (let at = 0; at < end; at += 1) {
    const six = SIX_BITS[text.charCodeAt(at)] ?? -1;
    if (six < 0) return undefined;
    bits = ((bits << 6) | six) & 0xffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[written] = (bits >> count) & 0xff;
      written += 1;
    }
  }
  return bytes;
}

/** Length without padding. Returns undefined when there is padding but the length is not a multiple of 4. */
function lengthWithoutPadding(text: string): number | undefined {
  const end = text.endsWith('==')
    ? text.length - 2
    : text.endsWith('=')
      ? text.length - 1
      : text.length;
  return end === text.length || text.length % 4 === 0 ? end : undefined;
}
