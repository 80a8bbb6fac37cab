/**
 * Records in `localStorage` which workers shut down cleanly with their page: no other storage can be written to while a page is being left.
 * A worker without such a mark was killed together with its browser, possibly in the middle of a write to a log
 * (docs/decisions/0004-crash.md).
 */

/** Prefix of the names of the workers' locks. A mark has the name of the worker's lock. */
export const ALIVE = 'burrow:alive:';

/** Workers of this page whose database is not closed yet. */
const workers = new Set<string>();
/** Marks left by earlier pages. They are removed when this page is left: by then its worker has read them. */
let marks: readonly string[] = [];

/**
 * Leaves a mark for the worker when the page is left.
 * @param worker name of the worker's lock
 * @returns the marks left by earlier pages
 */
export function markOnPageHide(worker: string): readonly string[] {
  try {
    // This line comes first: in Node 26, which has no `addEventListener`, access to `localStorage` prints a warning.
    addEventListener('pagehide', leave);
    marks = Object.keys(localStorage).filter((key) => key.startsWith(ALIVE));
    workers.add(worker);
  } catch {
    // Not a page, or storage is forbidden: a clean shutdown then counts as a kill. That causes some extra writes, but no loss.
  }
  return marks;
}

/** For a worker that has closed its database: its end needs no mark. */
export const forgetWorker = (worker: string): unknown => workers.delete(worker);

function leave(): void {
  for (const each of marks) localStorage.removeItem(each);
  for (const each of workers) localStorage.setItem(each, '');
}
