/**
 * Notes of the workers that ended while the browser went on, in `localStorage`, the only place that a page can write to in its last
 * turn. A worker without a note was killed with its browser: what it was writing may have torn a log (docs/decisions/0004-crash.md).
 */

/** What the names of locks of workers begin with, and so do the notes. */
export const ALIVE = 'burrow:alive:';

/**
 * Notes the end of a worker: of its connection, or of the page.
 * @param worker name of its lock
 * @returns the workers noted before; their notes are removed when this one is made
 */
export function noteEnd(worker: string, connection: AbortSignal): readonly string[] {
  try {
    const before = Object.keys(localStorage).filter((key) => key.startsWith(ALIVE));
    const note = (): void => {
      for (const each of before) localStorage.removeItem(each);
      localStorage.setItem(worker, '');
    };
    addEventListener('pagehide', note, { signal: connection });
    connection.addEventListener('abort', note);
    return before;
  } catch {
    // Not a page, or one that may store nothing: an end is taken for a kill, which costs some writes.
    return [];
  }
}
