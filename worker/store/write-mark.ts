/**
 * Files that show which workers may have been writing when their browser was killed. Such a kill can tear the log that all databases of
 * the origin share; the browser then deletes these databases two starts later: docs/decisions/0004-crash.md.
 */
import { unlessLate } from './deadline.ts';

/** Whether the browser's IndexedDB uses LevelDB. */
export const canTearLog = (userAgent: string): boolean => /Chrom(?:e|ium)\//.test(userAgent);

const FOLDER = 'burrow-writing';

const folder = async (): Promise<FileSystemDirectoryHandle> => {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(FOLDER, { create: true });
};

const nothing = (): undefined => undefined;
const RECURSIVE = { recursive: true };

/** The mark of one worker: a file in a folder of its database. Without the origin private file system, no mark is set. */
export class WriteMark {
  private readonly name: string;
  private readonly worker: string;
  private setting: Promise<unknown> | undefined = undefined;
  private isSet = false;

  /** @param worker name of the lock that the worker holds as long as it lives */
  constructor(name: string, worker: string) {
    this.name = encodeURIComponent(name);
    this.worker = encodeURIComponent(worker);
  }

  /** Await this before a write. Undefined when the mark is already set. */
  set(): Promise<unknown> | undefined {
    if (this.isSet) return undefined;
    this.setting ??= unlessLate(this.make()).then(() => (this.isSet = true));
    return this.setting;
  }

  /** Removes the mark, because this worker writes no more. */
  async remove(): Promise<void> {
    await this.setting;
    if (!this.isSet) return;
    // The folder may have been deleted together with the database.
    const own = folder().then((marks) => marks.getDirectoryHandle(this.name));
    await unlessLate(own.then((marks) => marks.removeEntry(this.worker)));
  }

  private async make(): Promise<void> {
    const own = await (await folder()).getDirectoryHandle(this.name, { create: true });
    await own.getFileHandle(this.worker, { create: true });
  }
}

/** Removes the marks of a deleted database: nobody writes to it any more. */
export async function removeMarksOf(name: string): Promise<void> {
  const marks = folder();
  await unlessLate(marks.then((all) => all.removeEntry(encodeURIComponent(name), RECURSIVE)));
}

export interface LeftMark {
  /** Name of the lock that the worker held. */
  readonly worker: string;
  remove(): Promise<void>;
}

/**
 * Marks of workers that were killed together with their browser: they are not alive, and no page has recorded their end.
 * @param ended workers whose end was recorded; their marks are removed
 */
export async function marksOfKilled(ended: readonly string[]): Promise<readonly LeftMark[]> {
  const marks = await allMarks().catch((): readonly LeftMark[] => []);
  if (marks.length === 0) return [];
  const { held = [] } = await navigator.locks.query();
  await Promise.all(
    marks.filter(({ worker }) => ended.includes(worker)).map((each) => each.remove()),
  );
  const known = new Set([...ended, ...held.map(({ name }) => name)]);
  return marks.filter(({ worker }) => !known.has(worker));
}

async function allMarks(): Promise<readonly LeftMark[]> {
  const marks: LeftMark[] = [];
  for await (const handle of (await folder()).values()) {
    if (!(handle instanceof FileSystemDirectoryHandle)) continue;
    for await (const file of handle.keys())
      marks.push({
        worker: decodeURIComponent(file),
        // Another tab may already have removed it.
        remove: () => handle.removeEntry(file).catch(nothing),
      });
  }
  return marks;
}
