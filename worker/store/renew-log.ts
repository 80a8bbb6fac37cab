/**
 * Has LevelDB begin a new log after a kill that may have torn the present one: it does when its buffer is full, and then
 * never reads the torn log again. Measurements: docs/decisions/0004-crash.md.
 */
import { Dexie } from 'dexie';
import { unlessElsewhere } from '../tabs/web-locks.ts';
import { inOneTransaction } from './one-transaction.ts';
import { marksOfKilled } from './write-mark.ts';

/** The buffer holds 1 to 4 MB, depending on the disk. */
const PIECES = 80;
/** A larger value goes to a file of its own, past the log. */
const PIECE_BYTES = 60 * 1024;
const PIECES_AT_ONCE = 8;
/** Any database of the origin will do: all of them share the log. */
const SCRATCH = 'burrow:scratch';

/**
 * Nothing happens unless a worker was killed with its browser; one tab does it for all.
 * @param ended workers that ended while the browser went on
 */
export const renewLogAfterKill = (ended: readonly string[]): Promise<void> =>
  unlessElsewhere(SCRATCH, async () => {
    const left = await marksOfKilled(ended);
    if (left.length === 0) return;
    await fillBuffer();
    // Not before: if the browser is killed again amid it, the next start does it.
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
