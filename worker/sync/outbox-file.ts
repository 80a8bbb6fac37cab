/**
 * A second copy of writes that the hub has not seen, outside IndexedDB: a browser that loses its database keeps this file. One line
 * for each write; cut when all of them have verdicts. See docs/decisions/0004-crash.md.
 */
import type { DeviceId, PushItem } from '../../src/sync/protocol.ts';

export interface KeptWrite {
  readonly device: DeviceId;
  readonly item: PushItem;
}

interface SyncAccess {
  getSize(): number;
  read(buffer: Uint8Array, options: { at: number }): number;
  write(buffer: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

const FOLDER = 'burrow-outbox';

/** One file per tab: only one can hold a file open. */
export class OutboxFile {
  private readonly access: SyncAccess;
  private isEmpty = true;

  private constructor(access: SyncAccess) {
    this.access = access;
  }

  /** Undefined where the browser has no such files. */
  static async open(database: string, tab: string): Promise<OutboxFile | undefined> {
    const folder = await folderOf(database, true);
    const file = await folder?.getFileHandle(`${tab}.jsonl`, { create: true });
    const open = (file as { createSyncAccessHandle?: () => Promise<SyncAccess> } | undefined)
      ?.createSyncAccessHandle;
    if (!open) return undefined;
    return new OutboxFile(await open.call(file));
  }

  /** Written when it returns. */
  keep(writes: readonly KeptWrite[]): void {
    const lines = writes.map((write) => `${JSON.stringify(write)}\n`).join('');
    this.access.write(new TextEncoder().encode(lines), { at: this.access.getSize() });
    this.access.flush();
    this.isEmpty = false;
  }

  /** The hub has seen them all. */
  clear(): void {
    if (this.isEmpty) return;
    this.access.truncate(0);
    this.access.flush();
    this.isEmpty = true;
  }

  close(): void {
    this.access.close();
  }
}

/** What tabs of before have kept, in order; what a kill cut off in the middle of a line is not there. */
export async function readKept(database: string): Promise<readonly KeptWrite[]> {
  const writes = new Map<string, KeptWrite>();
  const folder = await folderOf(database, false);
  if (!folder) return [];
  for await (const [, handle] of entriesOf(folder)) {
    const text = await (await (handle as FileSystemFileHandle).getFile()).text();
    for (const line of text.split('\n')) {
      const write = writeIn(line);
      if (write) writes.set(`${write.device}/${write.item.seq}`, write);
    }
  }
  return [...writes.values()].sort((a, b) => a.item.seq - b.item.seq);
}

/** Files of tabs that are gone, once what they kept is elsewhere. Files that are open stay. */
export async function forgetKept(database: string): Promise<void> {
  const folder = await folderOf(database, false);
  if (!folder) return;
  for await (const [name] of entriesOf(folder))
    await folder.removeEntry(name).catch(() => undefined);
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
