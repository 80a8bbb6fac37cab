/** A line of text outside IndexedDB, to know by when IndexedDB has forgotten. */

export interface OutsideMarker {
  read(): Promise<string | undefined>;
  /** Whole or not at all, also when the browser is killed. */
  write(text: string): Promise<void>;
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
          if (isNotFound(reason)) return undefined;
          throw reason;
        }
      },
      async write(text) {
        const stream = await (await folder.getFileHandle(file, { create: true })).createWritable();
        await stream.write(text);
        await stream.close();
      },
      async remove() {
        await folder.removeEntry(file).catch((reason: unknown) => {
          if (!isNotFound(reason)) throw reason;
        });
      },
    };
  } catch {
    // SecurityError, UnknownError or no such names: what browsers say where there is no such file system.
    return undefined;
  }
}

function cacheMarker(name: string): OutsideMarker | undefined {
  if (!('caches' in globalThis)) return undefined;
  const url = `/${FOLDER}/${encodeURIComponent(name)}.birth`;
  const cache = (): Promise<Cache> => caches.open(FOLDER);
  return {
    read: async () => (await (await cache()).match(url))?.text(),
    write: async (text) => (await cache()).put(url, new Response(text)),
    async remove() {
      await (await cache()).delete(url);
    },
  };
}

const isNotFound = (reason: unknown): boolean =>
  reason instanceof DOMException && reason.name === 'NotFoundError';
