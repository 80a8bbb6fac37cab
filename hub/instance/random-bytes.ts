import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;

/** A source of random bytes. Each response needs only a few bytes, so they are generated many at a time. */
export function createRandomBytes(): (bytes: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (bytes) => {
    if (bytes > POOL_BYTES / 4) return randomFillSync(new Uint8Array(bytes));
    if (used + bytes > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const taken = pool.slice(used, used + bytes);
    // Erased from the pool, because some bytes become secrets.
    pool.fill(0, used, used + bytes);
    used += bytes;
    return taken;
  };
}
