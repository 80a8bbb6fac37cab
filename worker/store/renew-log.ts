/**
 * Makes LevelDB begin a new log after a kill that may have torn the current one. LevelDB does so when its buffer is full, and then never
 * reads the torn log again. Measurements: docs/decisions/0004-crash.md.
 */
import { Dexie } from 'dexie';
import { lockManager, unlessElsewhere } from '../tabs/web-locks.ts';
import { inOneTransaction } from './one-transaction.ts';
import { marksOfKilled } from './write-mark.ts';

/** LevelDB's buffer holds 1 to 4 MB, depending on the size of the disk. */
const PIECES = 80;
/** Larger values are stored in a file of their own instead of the log. */
const PIECE_BYTES = 60 * 1024;
const PIECES_AT_ONCE = 8;
/** Any database of the origin can be used, because all of them share the log. No database of an app is stored under a name with this end. */
const SCRATCH = 'burrow:scratch:files:token';

/**
 * Does nothing unless a worker was killed together with its browser. One tab does it for all.
 * @param ended workers that ended while the browser kept running
 */
export const renewLogAfterKill = (ended: readonly string[]): Promise<void> =>
  unlessElsewhere(lockManager(), SCRATCH, async () => {
    const left = await marksOfKilled(ended);
    if (left.length === 0) return;
    await fillBuffer();
    // Last: if the browser is killed again before this, the next start repeats the work.
    await Promise.all(left.map((mark) => mark.remove()));
  });

async function fillBuffer(): Promise<void> {
  const scratch = new Dexie(SCRATCH, { autoOpen: false, cache: 'disabled' });
  scratch.version(1).stores({ pieces: '' });
  await scratch.open();
  try {
    const idb = scratch.backendDB();
    for (let first = 0; first < PIECES; first += PIECES_AT_ONCE) {
      await inOneTransaction(idb, 'pieces', 'readwrite', (pieces) => {
        const put = (key: number) => pieces.put(new Uint8Array(PIECE_BYTES), key);
        for (let key = first + 1; key < first + PIECES_AT_ONCE; key++) put(key);
        return put(first);
      });
    }
  } finally {
    await scratch.delete();
  }
}
