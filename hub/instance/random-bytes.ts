/** Random bytes. Each answer needs a few: they are made many at a time. */
import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;

export function createDice(): (bytes: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (bytes) => {
    if (bytes > POOL_BYTES / 4) return randomFillSync(new Uint8Array(bytes));
    if (used + bytes > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const given = pool.slice(used, used + bytes);
    // Some become secrets: they are nowhere but with who asked.
    pool.fill(0, used, used + bytes);
    used += bytes;
    return given;
  };
}
