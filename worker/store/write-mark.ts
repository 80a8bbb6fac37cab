/**
 * Files that tell which workers may have been writing when their browser was killed. Such a kill can tear the log that all
 * databases of the origin share, and the browser then deletes them two starts later: docs/decisions/0004-crash.md.
 */

/** Where IndexedDB is LevelDB. */
export const canTearLog = (userAgent: string): boolean => /Chrom(?:e|ium)\//.test(userAgent);

const folder = async (): Promise<FileSystemDirectoryHandle> => {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle('burrow-writing', { create: true });
};

const nothing = (): undefined => undefined;

/** The mark of one worker. Where there is no private file system, nothing is marked. */
export class WriteMark {
  private readonly worker: string;
  private setting: Promise<unknown> | undefined = undefined;
  private isSet = false;

  /** @param worker name of the lock that it holds as long as it lives */
  constructor(worker: string) {
    this.worker = worker;
  }

  /** To be awaited before a write; undefined when the mark is set already. */
  set(): Promise<unknown> | undefined {
    if (this.isSet) return undefined;
    this.setting ??= folder()
      .then((marks) => marks.getFileHandle(fileOf(this.worker), { create: true }))
      .catch(nothing)
      .finally(() => (this.isSet = true));
    return this.setting;
  }

  /** This worker writes no more. */
  async remove(): Promise<void> {
    await this.setting;
    if (this.isSet) await removeMarks([this.worker]);
  }
}

/**
 * Workers that were killed with their browser and may have been writing: a mark is left, and they do not live.
 * @param ended workers that ended while the browser went on; their marks are removed
 */
export async function killedWriters(ended: readonly string[]): Promise<readonly string[]> {
  const marked = await markedWorkers().catch((): readonly string[] => []);
  if (marked.length === 0) return [];
  const { held = [] } = await navigator.locks.query();
  await removeMarks(marked.filter((worker) => ended.includes(worker)));
  const alive = new Set([...ended, ...held.map(({ name }) => name)]);
  return marked.filter((worker) => !alive.has(worker));
}

export async function removeMarks(workers: readonly string[]): Promise<void> {
  if (workers.length === 0) return;
  const marks = await folder();
  // Another tab may have removed it.
  await Promise.all(workers.map((each) => marks.removeEntry(fileOf(each)).catch(nothing)));
}

async function markedWorkers(): Promise<readonly string[]> {
  const workers: string[] = [];
  for await (const name of (await folder()).keys()) workers.push(decodeURIComponent(name));
  return workers;
}

const fileOf = (worker: string): string => encodeURIComponent(worker);
