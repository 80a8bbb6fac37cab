/** xxHash32 (https://xxhash.com, seed 0): four bytes a step, so a block of 8 KB takes a few microseconds. */

const P1 = 0x9e3779b1;
const P2 = 0x85ebca77;
const P3 = 0xc2b2ae3d;
const P4 = 0x27d4eb2f;
const P5 = 0x165667b1;

/** Of bytes `[0, length)`. */
export function checksum(bytes: Uint8Array, length = bytes.length): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, length);
  let at = 0;
  let hash = P5;
  if (length >= 16) {
    let a = (P1 + P2) | 0;
    let b = P2 | 0;
    let c = 0;
    let d = -P1 | 0;
    for (; at <= length - 16; at += 16) {
      a = round(a, view.getUint32(at, true));
      b = round(b, view.getUint32(at + 4, true));
      c = round(c, view.getUint32(at + 8, true));
      d = round(d, view.getUint32(at + 12, true));
    }
    hash = (turned(a, 1) + turned(b, 7) + turned(c, 12) + turned(d, 18)) | 0;
  }
  hash = (hash + length) | 0;
  for (; at <= length - 4; at += 4)
    hash = Math.imul(turned((hash + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4);
  for (; at < length; at += 1)
    hash = Math.imul(turned((hash + Math.imul(view.getUint8(at), P5)) | 0, 11), P1);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const round = (lane: number, word: number): number =>
  Math.imul(turned((lane + Math.imul(word, P2)) | 0, 13), P1);

const turned = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));
