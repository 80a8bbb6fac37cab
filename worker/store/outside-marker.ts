/** A line of text outside IndexedDB, to know by when IndexedDB has forgotten. */
import { Refusal } from '../../src/errors.ts';
import { isNamed } from '../browser/is-named.ts';
import { inTurn } from '../tabs/web-locks.ts';

export interface OutsideMarker {
  read(): Promise<string | undefined>;
  /** Whole or not at all, also when the browser is killed. Asks `isWanted` when its turn among the tabs has come. */
  write(text: string, isWanted: () => boolean): Promise<void>;
  /** @throws Refusal `storage_blocked` */
  remove(): Promise<void>;
}

/**
 * In the origin private file system, or where that is missing (private windows, Safari before 26) in a cache; undefined when the
 * browser offers neither.
 */
export async function openOutsideMarker(name: string): Promise<OutsideMarker | undefined> {
  return (await fileMarker(name)) ?? cacheMarker(name);
}

const FOLDER = 'burrow';
/** Longer than any write of a line; a tab that is frozen amid one holds its turn. */
const TURN_MS = 5000;
const RETRY_MS = 20;

async function fileMarker(name: string): Promise<OutsideMarker | undefined> {
  const file = `${encodeURIComponent(name)}.birth`;
  try {
    if (!('createWritable' in FileSystemFileHandle.prototype)) return undefined;
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle(FOLDER, { create: true });
    return {
      async read() {
        try {
          return await (await (await folder.getFileHandle(file)).getFile()).text();
        } catch (reason) {
          if (isNamed(reason, 'NotFoundError')) return undefined;
          throw reason;
        }
      },
      write: (text, isWanted) =>
        inTurnFor(name, async () => {
          if (!isWanted()) return;
          const handle = await folder.getFileHandle(file, { create: true });
          const stream = await handle.createWritable();
          await stream.write(text);
          await stream.close();
        }),
      remove: () => inTurnFor(name, (late) => removeFrom(folder, file, late)),
    };
  } catch {
    // SecurityError, UnknownError or no such names: what browsers say where there is no such file system.
    return undefined;
  }
}

async function cacheMarker(name: string): Promise<OutsideMarker | undefined> {
  const url = `/${FOLDER}/${encodeURIComponent(name)}.birth`;
  const cache = (): Promise<Cache> => caches.open(FOLDER);
  try {
    await cache();
  } catch {
    // There are none, or the browser refuses them here.
    return undefined;
  }
  return {
    read: async () => (await (await cache()).match(url))?.text(),
    async write(text, isWanted) {
      const kept = await cache();
      if (isWanted()) await kept.put(url, new Response(text));
    },
    async remove() {
      await (await cache()).delete(url);
    },
  };
}

/** One tab at a time: a file that is being written cannot be removed, and comes back when it is. */
async function inTurnFor(name: string, body: (late: AbortSignal) => Promise<void>): Promise<void> {
  const late = AbortSignal.timeout(TURN_MS);
  try {
    await inTurn(`burrow:marker:${name}`, () => body(late), late);
  } catch (reason) {
    if (reason !== late.reason) throw reason;
    throw new Refusal(
      'storage_blocked',
      'Another tab blocks the marker file of the database. Close other tabs of this app, or try again.',
    );
  }
}

/** The browser lets go of the file of a worker that ended amid a write only some time after. */
async function removeFrom(
  folder: FileSystemDirectoryHandle,
  file: string,
  late: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await folder.removeEntry(file);
      return;
    } catch (reason) {
      if (isNamed(reason, 'NotFoundError')) return;
      if (!isNamed(reason, 'NoModificationAllowedError')) throw reason;
      if (late.aborted) throw late.reason;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
