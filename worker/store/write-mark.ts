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
  private isDoubted = false;

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

  /**
   * The log may be torn although the browser runs: from now on the mark counts as that of a killed worker, however this worker ends. Its
   * file is emptied, because that succeeds even on a full disk.
   */
  async doubt(): Promise<void> {
    this.isDoubted = true;
    await this.set();
    await unlessLate(this.file().then((file) => write(file, '')));
  }

  /** The log was renewed. The next write sets the mark again. */
  async trust(): Promise<void> {
    this.isDoubted = false;
    await this.remove();
  }

  /** Removes the mark, because this worker writes no more for now. */
  async remove(): Promise<void> {
    await this.setting;
    if (!this.isSet || this.isDoubted) return;
    // The folder may have been deleted together with the database.
    const own = folder().then((marks) => marks.getDirectoryHandle(this.name));
    await unlessLate(own.then((marks) => marks.removeEntry(this.worker)));
    this.isSet = false;
    this.setting = undefined;
  }

  private async make(): Promise<void> {
    await write(await this.file(), 'x');
  }

  private async file(): Promise<FileSystemFileHandle> {
    const own = await (await folder()).getDirectoryHandle(this.name, { create: true });
    return own.getFileHandle(this.worker, { create: true });
  }
}

/** What only dedicated workers can do with a file. */
interface WorkerFile {
  createSyncAccessHandle(): Promise<{
    truncate(size: number): void;
    write(bytes: Uint8Array<ArrayBuffer>): number;
    close(): void;
  }>;
}

/** A service worker cannot write so, and need not: no page records its end. */
async function write(
  file: FileSystemFileHandle & Partial<WorkerFile>,
  text: string,
): Promise<void> {
  const access = await file.createSyncAccessHandle?.();
  access?.truncate(0);
  access?.write(new TextEncoder().encode(text));
  access?.close();
}

/** Removes the marks of a deleted database: nobody writes to it any more. */
export async function removeMarksOf(name: string): Promise<void> {
  const marks = folder();
  await unlessLate(marks.then((all) => all.removeEntry(encodeURIComponent(name), RECURSIVE)));
}

export interface LeftMark {
  /** Name of the lock that the worker held. */
  readonly worker: string;
  /** Its log may be torn even if the browser kept running. */
  readonly isDoubted: boolean;
  remove(): Promise<void>;
}

/**
 * Marks of workers that were killed together with their browser: they are not alive, and no page has recorded their end.
 * @param ended workers whose end was recorded; their marks are removed, unless they are doubted
 */
export async function marksOfKilled(ended: readonly string[]): Promise<readonly LeftMark[]> {
  const marks = await allMarks().catch((): readonly LeftMark[] => []);
  if (marks.length === 0) return [];
  const { held = [] } = await navigator.locks.query();
  const over = marks.filter(({ worker, isDoubted }) => !isDoubted && ended.includes(worker));
  await Promise.all(over.map((each) => each.remove()));
  const alive = new Set(held.map(({ name }) => name));
  return marks.filter((each) => !over.includes(each) && !alive.has(each.worker));
}

async function allMarks(): Promise<readonly LeftMark[]> {
  const marks: LeftMark[] = [];
  for await (const handle of (await folder()).values()) {
    if (!(handle instanceof FileSystemDirectoryHandle)) continue;
    for await (const [file, mark] of handle.entries())
      marks.push({
        worker: decodeURIComponent(file),
        isDoubted: !(mark instanceof FileSystemFileHandle) || (await mark.getFile()).size === 0,
        // Another tab may already have removed it.
        remove: () => handle.removeEntry(file).catch(nothing),
      });
  }
  return marks;
}
