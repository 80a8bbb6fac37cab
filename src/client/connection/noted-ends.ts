/**
 * Notes of the workers whose page was left, in `localStorage`, the only place that a page can write to in its last turn. A worker without a
 * note was killed with its browser: what it was writing may have torn a log (docs/decisions/0004-crash.md).
 */

/** What the names of locks of workers begin with, and so do the notes. */
export const ALIVE = 'burrow:alive:';

/** Workers of this page that have not closed their database. */
const workers = new Set<string>();
/** Notes of earlier pages. They are removed when the page is left: by then the worker has been told of them. */
let noted: readonly string[] = [];

/**
 * Notes the worker when the page is left.
 * @param worker name of its lock
 * @returns the workers noted before
 */
export function noteWhenLeft(worker: string): readonly string[] {
  try {
    // First: where there is no such event, Node 26 warns of who looks at `localStorage`.
    addEventListener('pagehide', leave);
    noted = Object.keys(localStorage).filter((key) => key.startsWith(ALIVE));
    workers.add(worker);
  } catch {
    // Not a page, or one that may store nothing: an end is taken for a kill, which costs some writes.
  }
  return noted;
}

/** The worker has closed its database: its end needs no note. */
export const noteClosed = (worker: string): unknown => workers.delete(worker);

function leave(): void {
  for (const each of noted) localStorage.removeItem(each);
  for (const each of workers) localStorage.setItem(each, '');
}
