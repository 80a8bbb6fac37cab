/**
 * A second copy of unsent writes outside IndexedDB, in a file of the origin: a browser that loses its database keeps this file. One
 * line for each write; truncated when all of them have verdicts. See docs/decisions/0004-crash.md.
 */
import type { SavedWrite } from '../../src/sync/device/state/outbox-record.ts';
import type { DeviceId } from '../../src/sync/protocol/identifiers.ts';
import { pause } from '../browser/pause.ts';

export interface KeptWrite extends SavedWrite {
  readonly device: DeviceId;
}

export interface SyncAccess {
  getSize(): number;
  read(buffer: Uint8Array, options: { at: number }): number;
  write(buffer: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

const FOLDER = 'burrow-outbox';
const TRIES_MAX = 5;

/** One file per tab: a file can be open in one tab only. */
export class OutboxFile {
  private readonly access: SyncAccess;
  private readonly pause: () => Promise<void>;
  private flushing: Promise<void> | undefined = undefined;
  private isEmpty = true;

  /** @param pause a turn of the event loop: a write is sent to the hub before the disk is waited for */
  constructor(access: SyncAccess, pause: () => Promise<void>) {
    this.access = access;
    this.pause = pause;
  }

  /** Undefined where the browser has no such files. */
  static async open(database: string, tab: string): Promise<OutboxFile | undefined> {
    for (let tries = 1; ; tries += 1) {
      try {
        const access = await openAccess(database, `${tab}.jsonl`);
        return access && new OutboxFile(access, pause);
      } catch (reason) {
        // Until it is open, a tab that deletes the files of closed tabs takes it for one of them.
        if (!isNotFound(reason) || tries === TRIES_MAX) throw reason;
      }
    }
  }

  /** When it returns, the operating system has the bytes: a killed browser does not lose them. */
  keep(writes: readonly KeptWrite[]): void {
    const lines = writes.map((write) => `${JSON.stringify(write)}\n`).join('');
    const bytes = new TextEncoder().encode(lines);
    const end = this.access.getSize();
    this.isEmpty = false;
    try {
      const written = this.access.write(bytes, { at: end });
      if (written < bytes.length) throw new Error('The outbox file is full.');
    } catch (reason) {
      // Half a line would make the next one unreadable.
      this.access.truncate(end);
      throw reason;
    }
  }

  /** Resolves when the lines outlive a power failure too. Calls of one turn share one flush. */
  flushed(): Promise<void> {
    this.flushing ??= this.pause().then(() => {
      this.flushing = undefined;
      this.access.flush();
    });
    return this.flushing;
  }

  /** Truncates the file: the hub has judged all of them, and recognizes any that are sent again. */
  clear(): void {
    if (this.isEmpty) return;
    this.access.truncate(0);
    this.isEmpty = true;
  }

  close(): void {
    this.access.close();
  }
}

async function openAccess(database: string, name: string): Promise<SyncAccess | undefined> {
  const folder = await folderOf(database, true);
  const file = await folder?.getFileHandle(name, { create: true });
  const open = (file as { createSyncAccessHandle?: () => Promise<SyncAccess> } | undefined)
    ?.createSyncAccessHandle;
  return open?.call(file);
}

const isNotFound = (reason: unknown): boolean =>
  reason instanceof DOMException && reason.name === 'NotFoundError';

/** Writes in the files of earlier tabs, in order, without a last line that a kill cut off. */
export async function readKept(database: string): Promise<readonly KeptWrite[]> {
  const writes = new Map<string, KeptWrite>();
  const folder = await folderOf(database, false);
  if (!folder) return [];
  for await (const [, handle] of entriesOf(folder))
    for (const write of await writesIn(handle as FileSystemFileHandle))
      writes.set(`${write.device}/${write.item.seq}`, write);
  return [...writes.values()].sort((a, b) => a.item.seq - b.item.seq);
}

/**
 * Deletes the files of closed tabs, once their writes are stored elsewhere. Open files stay.
 * @param device whose writes are stored elsewhere: files of other devices stay too. Undefined: all
 */
export async function forgetKept(database: string, device?: DeviceId): Promise<void> {
  const folder = await folderOf(database, false);
  if (!folder) return;
  for await (const [name, handle] of entriesOf(folder)) {
    const writes = device === undefined ? [] : await writesIn(handle as FileSystemFileHandle);
    if (writes.every((write) => write.device === device))
      await folder.removeEntry(name).catch(() => undefined);
  }
}

async function writesIn(handle: FileSystemFileHandle): Promise<readonly KeptWrite[]> {
  // A file that cannot be opened belongs to an open tab.
  const file = await handle.getFile().catch(() => undefined);
  // One that another tab has deleted meanwhile holds nothing that is not stored elsewhere.
  const text = await file?.text().catch((reason: unknown) => {
    if (!isNotFound(reason)) throw reason;
  });
  if (!text) return [];
  return text.split('\n').flatMap((line) => writeIn(line) ?? []);
}

async function folderOf(
  database: string,
  create: boolean,
): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    const root = await navigator.storage.getDirectory();
    const all = await root.getDirectoryHandle(FOLDER, { create });
    return await all.getDirectoryHandle(encodeURIComponent(database), { create });
  } catch {
    // No such folder, or no such files in this browser.
    return undefined;
  }
}

const entriesOf = (folder: FileSystemDirectoryHandle): AsyncIterable<[string, FileSystemHandle]> =>
  (folder as unknown as { entries(): AsyncIterable<[string, FileSystemHandle]> }).entries();

function writeIn(line: string): KeptWrite | undefined {
  if (line === '') return undefined;
  try {
    return JSON.parse(line) as KeptWrite;
  } catch {
    return undefined;
  }
}
