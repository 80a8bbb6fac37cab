/** A Bloom filter: tells that a key is absent, or that it may be present (wrong for about one absent key in a hundred). */
const BITS_PER_KEY = 10;
const PROBES = 7;

/** @param hashes `bloomHash` of each key */
export function bloomOf(hashes: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((hashes.length * BITS_PER_KEY) / 8));
  const bits = bytes.length * 8;
  for (const hash of hashes) {
    let probe = hash;
    const step = stepOf(hash);
    for (let i = 0; i < PROBES; i += 1) {
      const bit = probe % bits;
      bytes[bit >>> 3] = (bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
      probe = (probe + step) >>> 0;
    }
  }
  return bytes;
}

/** Returns true for a filter without bytes. */
export function mayContain(bloom: Uint8Array, hash: number): boolean {
  const bits = bloom.length * 8;
  if (bits === 0) return true;
  const step = stepOf(hash);
  let probe = hash;
  for (let i = 0; i < PROBES; i += 1) {
    const bit = probe % bits;
    if (((bloom[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
    probe = (probe + step) >>> 0;
  }
  return true;
}

/** The hash of a key. It must never change, because stored filters are made with it. */
export function bloomHash(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1)
    hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const stepOf = (hash: number): number => ((hash >>> 17) | (hash << 15) | 1) >>> 0;
