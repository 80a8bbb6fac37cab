/**
 * Makes LevelDB begin a new log after a kill that may have torn the current one. LevelDB does so when its buffer is full, and then never
 * reads the torn log again. Measurements: docs/decisions/0004-crash.md.
 */
import { Dexie } from 'dexie';
import { isNamed } from '../browser/is-named.ts';
import { lockManager, unlessElsewhere } from '../tabs/web-locks.ts';
import { within } from './deadline.ts';
import { refusalOf } from './idb-failure.ts';
import { inOneTransaction } from './one-transaction.ts';
import { marksOfKilled, type WriteMark } from './write-mark.ts';

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
    // Without room, filling the buffer would tear the log.
    await requireRoom();
    await fillBuffer();
    // Last: if the browser is killed again before this, the next start repeats the work.
    await Promise.all(left.map((mark) => mark.remove()));
  });

/** Called after the browser has closed a connection: writing to the log may have failed, which leaves a torn record in it. */
export async function renewLogAfterLoss(mark: WriteMark): Promise<void> {
  try {
    await unlessElsewhere(lockManager(), SCRATCH, fillBuffer);
    await mark.trust();
  } catch {
    // The connection will be lost again, and then this is repeated; at the latest when the database is opened the next time.
  }
}

/**
 * On a full disk, each attempt to open a database leaves another torn record in the log, until the browser deletes all databases of the
 * origin. So this looks for space elsewhere first.
 * @throws Refusal `quota_exceeded`
 */
export async function requireRoom(): Promise<void> {
  try {
    await within(ROOM_MS, fillFile(), () => undefined);
  } catch (cause) {
    // Other errors do not mean that there is no space. InvalidStateError: the browser could not even store the name of the file.
    if (isNamed(cause, 'AbortError', 'InvalidStateError', 'QuotaExceededError'))
      throw refusalOf(new DOMException('The disk is full.', 'QuotaExceededError'));
  }
}

const ROOM = 'burrow-full';
const ROOM_MS = 5000;

/** Writes as much as renewing the log takes, in the log and in the table that LevelDB makes of it. */
async function fillFile(): Promise<void> {
  const root = await navigator.storage.getDirectory();
  try {
    const file = await root.getFileHandle(ROOM, { create: true });
    const stream = await file.createWritable();
    await stream.write(new Uint8Array(2 * PIECES * PIECE_BYTES));
    await stream.close();
  } finally {
    await root.removeEntry(ROOM).catch(() => undefined);
  }
}

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
