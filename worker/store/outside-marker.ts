/** A line of text stored outside IndexedDB, by which a loss of IndexedDB's data can be detected. */
import { isNamed } from '../browser/is-named.ts';
import { inTurn, lockManager } from '../tabs/web-locks.ts';

export interface OutsideMarker {
  read(): Promise<string | undefined>;
  /** Writes all of the text or nothing, even if the browser is killed. Calls `isWanted` when this tab holds the lock of the marker. */
  write(text: string, isWanted: () => boolean): Promise<void>;
  /** @throws Refusal `storage_blocked` */
  remove(): Promise<void>;
}

/**
 * Uses the origin private file system or, where that is missing (private windows, Safari before 26), the Cache API. Undefined when the
 * browser offers neither.
 */
export async function openOutsideMarker(name: string): Promise<OutsideMarker | undefined> {
  return (await fileMarker(name)) ?? cacheMarker(name);
}

const FOLDER = 'burrow';
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
    // SecurityError, UnknownError or missing globals: what browsers report where there is no such file system.
    return undefined;
  }
}

async function cacheMarker(name: string): Promise<OutsideMarker | undefined> {
  const url = `/${FOLDER}/${encodeURIComponent(name)}.birth`;
  const cache = (): Promise<Cache> => caches.open(FOLDER);
  try {
    await cache();
  } catch {
    // The Cache API is missing, or the browser denies access to it.
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

/** A file cannot be removed while it is being written, and would reappear after the write. */
const inTurnFor = (name: string, body: (late: AbortSignal) => Promise<void>): Promise<void> =>
  inTurn(lockManager(), `burrow:marker:${name}`, body);

/** The browser releases the file of a worker that ended during a write only after some time, so removing it is retried. */
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
