/** xxHash32 (https://xxhash.com, seed 0). It reads four bytes per step, so a block of 8 KB takes a few microseconds. */

const P1 = 0x9e3779b1;
const P2 = 0x85ebca77;
const P3 = 0xc2b2ae3d;
const P4 = 0x27d4eb2f;
const P5 = 0x165667b1;

/** Hash of bytes `[0, length)`. */
export function checksum(bytes: Uint8Array, length = bytes.length): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  let at = length & ~15;
  let hash = at > 0 ? ofLanes(wordsOf(bytes, at)) : P5;
  hash = (hash + length) | 0;
  for (; at <= length - 4; at += 4)
    hash = Math.imul(turned((hash + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4);
  for (; at < length; at += 1)
    hash = Math.imul(turned((hash + Math.imul(view.getUint8(at), P5)) | 0, 11), P1);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Hashes four words per step. After a page has opened, this runs for each block before the function is compiled. So it
 * calls only `imul`, and reads words from an array.
 */
function ofLanes(words: Int32Array): number {
  const { imul } = Math;
  let a = (P1 + P2) | 0;
  let b = P2 | 0;
  let c = 0;
  let d = -P1 | 0;
  for (let i = 0; i < words.length; i += 4) {
    a += imul(words[i] ?? 0, P2);
    a = imul((a << 13) | (a >>> 19), P1);
    b += imul(words[i + 1] ?? 0, P2);
    b = imul((b << 13) | (b >>> 19), P1);
    c += imul(words[i + 2] ?? 0, P2);
    c = imul((c << 13) | (c >>> 19), P1);
    d += imul(words[i + 3] ?? 0, P2);
    d = imul((d << 13) | (d >>> 19), P1);
  }
  return (turned(a, 1) + turned(b, 7) + turned(c, 12) + turned(d, 18)) | 0;
}

/** Bytes `[0, length)` as little-endian words. */
function wordsOf(bytes: Uint8Array, length: number): Int32Array {
  if (IS_LITTLE_ENDIAN) {
    const { buffer, byteOffset } = bytes;
    return byteOffset % 4 === 0
      ? new Int32Array(buffer, byteOffset, length >>> 2)
      : new Int32Array(bytes.slice(0, length).buffer);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  return new Int32Array(length >>> 2).map((_, i) => view.getInt32(4 * i, true));
}

const IS_LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

const turned = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));
