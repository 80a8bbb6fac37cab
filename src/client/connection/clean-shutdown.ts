/**
 * Marks of workers that shut down cleanly with their page, in `localStorage`, the only place that a page can write to while it is being left. A
 * worker without a mark was killed with its browser: what it was writing may have torn a log (docs/decisions/0004-crash.md).
 */

/** Prefix of the names of workers' locks, and of the marks. */
export const ALIVE = 'burrow:alive:';

/** Workers of this page that have not closed their database. */
const workers = new Set<string>();
/** Marks of earlier pages. They are removed when the page is left: by then the worker knows them. */
let marks: readonly string[] = [];

/**
 * Marks the worker when the page is left.
 * @param worker name of its lock
 * @returns the workers that earlier pages have marked
 */
export function markOnPageHide(worker: string): readonly string[] {
  try {
    // First: where there is no such event, Node 26 warns of who looks at `localStorage`.
    addEventListener('pagehide', leave);
    marks = Object.keys(localStorage).filter((key) => key.startsWith(ALIVE));
    workers.add(worker);
  } catch {
    // Not a page, or one that may store nothing: an end is taken for a kill, which costs some writes.
  }
  return marks;
}

/** The worker has closed its database: its end needs no mark. */
export const forgetWorker = (worker: string): unknown => workers.delete(worker);

function leave(): void {
  for (const each of marks) localStorage.removeItem(each);
  for (const each of workers) localStorage.setItem(each, '');
}
