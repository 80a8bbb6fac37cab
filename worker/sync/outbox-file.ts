/**
 * A second copy of unsent writes in files of the origin, outside IndexedDB: they survive if the browser loses its database. One line for
 * each write. See docs/decisions/0004-crash.md.
 */
import { tryJson } from '../../src/codec/plain-json.ts';
import { utf8Bytes } from '../../src/codec/utf8.ts';
import type { KeptWrite } from '../../src/sync/device/state/outbox-record.ts';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import type { DeviceId } from '../../src/sync/protocol/identifiers.ts';
import { isNamed } from '../browser/is-named.ts';
import { pause } from '../browser/pause.ts';

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
const FULL_BYTES = 1 << 20;
/** A line that records up to which number the writes of a device have verdicts. */
const SETTLED = /^(\d+) (\w+)$/;
const ALL = Number.MAX_SAFE_INTEGER;

/** A file, and the highest number of the writes in it; 0 if there are none. */
interface Segment {
  readonly access: SyncAccess;
  last: number;
}

/**
 * Two files per tab, because a file can be open in one tab only. Writes get their verdicts in order: writes are appended to one file
 * until it is full, then to the other, and a file is truncated when all of its writes have verdicts.
 */
export class OutboxFile {
  /** Number of writes that were appended. */
  kept = 0;
  /** Writes are appended to the first. */
  private readonly segments: [Segment, Segment];
  private readonly pause: () => Promise<void>;
  private flushing: Promise<void> | undefined = undefined;
  private device: DeviceId | undefined = undefined;
  /** Lines which record that no write under a former id of the device is unsent. */
  private moved = '';

  /** @param pause yields to the event loop, so that a write is sent to the hub before waiting for the disk */
  constructor(one: SyncAccess, other: SyncAccess, pause: () => Promise<void>) {
    this.segments = [
      { access: one, last: 0 },
      { access: other, last: 0 },
    ];
    this.pause = pause;
  }

  /** Undefined where the browser has no such files. */
  static async open(database: string, tab: string): Promise<OutboxFile | undefined> {
    const one = await openAccess(database, `${tab}.jsonl`);
    const other = one && (await openAccess(database, `${tab}.2.jsonl`));
    return other && new OutboxFile(one, other, pause);
  }

  /** When this returns, the operating system has the bytes, so they survive if the browser is killed. */
  keep(write: KeptWrite): void {
    const { segments } = this;
    const { device } = write;
    const { seq } = write.item;
    // After a change of the device id, the earlier writes have been renumbered, with lower numbers than this write.
    if (device !== this.device) for (const segment of segments) segment.last &&= seq;
    this.device = device;
    if (segments[1].last === 0 && segments[0].access.getSize() > FULL_BYTES) segments.reverse();
    const [segment] = segments;
    append(segment.access, JSON.stringify(write));
    segment.last = Math.max(segment.last, seq);
    this.kept += 1;
  }

  /** Resolves when the lines survive a power failure too. Calls in the same turn of the event loop share one flush. */
  flushed(): Promise<void> {
    this.flushing ??= this.pause().then(() => {
      this.flushing = undefined;
      for (const { access } of this.segments) access.flush();
    });
    return this.flushing;
  }

  /**
   * Truncates the files all of whose writes have verdicts. Other files may keep such writes, because the hub recognizes writes that are
   * sent again.
   * @param kept the value of `kept` before the state was read
   */
  settle({ device, settledSeq, lastSeq }: ReplicaState, kept: number): void {
    const isAll = settledSeq >= lastSeq && kept === this.kept;
    const settled = device === this.device ? settledSeq : 0;
    const [one, other] = this.segments;
    for (const segment of this.segments) {
      if (segment.last === 0 || !(isAll || segment.last <= settled)) continue;
      const beside = segment === one ? other : one;
      if (beside.last === 0) beside.access.truncate(0);
      try {
        // Records up to which number writes have verdicts: files of other tabs may contain some of these writes, and the others are not
        // lost.
        append(beside.access, `${this.moved}${settledSeq} ${device}`);
      } catch {
        // Ignored: truncating the file makes room.
      }
      segment.access.truncate(0);
      segment.last = 0;
    }
  }

  /**
   * The writes without verdicts have been renumbered under another id of the device. Afterwards, none counts as unsent under the former
   * id, in this file or another.
   */
  move(before: DeviceId, device: DeviceId, writes: readonly KeptWrite[]): void {
    const { segments } = this;
    this.moved += `${ALL} ${before}\n`;
    const lines = writes.map((write) => `${JSON.stringify(write)}\n`).join('') + this.moved;
    const [one, other] = segments;
    // At every moment, at least one of the files contains the writes.
    for (const [to, from] of [
      [other, one],
      [one, other],
    ] as const) {
      append(to.access, lines);
      from.access.truncate(0);
      from.last = 0;
    }
    one.last = writes.at(-1)?.item.seq ?? 0;
    this.device = device;
  }

  close(): void {
    for (const { access } of this.segments) access.close();
  }
}

function append(access: SyncAccess, line: string): void {
  const bytes = utf8Bytes(`${line}\n`);
  const end = access.getSize();
  try {
    const written = access.write(bytes, { at: end });
    if (written < bytes.length) throw new Error('The outbox file is full.');
  } catch (reason) {
    // An incomplete line would make the next one unreadable.
    access.truncate(end);
    throw reason;
  }
}

async function openAccess(database: string, name: string): Promise<SyncAccess | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      const folder = await folderOf(database, true);
      const file = await folder?.getFileHandle(name, { create: true });
      const open = (file as { createSyncAccessHandle?: () => Promise<SyncAccess> } | undefined)
        ?.createSyncAccessHandle;
      return await open?.call(file);
    } catch (reason) {
      // Before the new file is opened, another tab may delete it, because it looks like the file of a closed tab.
      if (!isNamed(reason, 'NotFoundError') || tries === TRIES_MAX) throw reason;
    }
  }
}

/** The writes in the files of earlier tabs, in order. A last line that is incomplete because of a kill is skipped. */
export async function readKept(database: string): Promise<readonly KeptWrite[]> {
  const files = await filesIn(await folderOf(database, false));
  const unsettled = files.flatMap((file) => file.unsettled);
  const writes = new Map(unsettled.map((write) => [`${write.device}/${write.item.seq}`, write]));
  return [...writes.values()].sort((a, b) => a.item.seq - b.item.seq);
}

/**
 * The last write under the device id of the most recent write. The device may have had other ids before. Writes that a killed tab kept
 * under one of those have been renumbered since.
 */
export async function lastKept(database: string): Promise<KeptWrite | undefined> {
  const kept = await readKept(database);
  const [latest] = kept.toSorted((a, b) => b.item.now - a.item.now);
  return kept.findLast(({ device }) => device === latest?.device);
}

interface KeptFile {
  readonly name: string;
  readonly unsettled: readonly KeptWrite[];
}

/** The readable files, each with its writes without a verdict, according to all files. */
async function filesIn(
  folder: FileSystemDirectoryHandle | undefined,
): Promise<readonly KeptFile[]> {
  const settled = new Map<string, number>();
  const files: { readonly name: string; readonly writes: readonly KeptWrite[] }[] = [];
  if (folder)
    for await (const [name, handle] of entriesOf(folder)) {
      const lines = await linesIn(handle as FileSystemFileHandle);
      for (const line of lines) {
        const [, seq, device] = SETTLED.exec(line) ?? [];
        if (device) settled.set(device, Math.max(settled.get(device) ?? 0, Number(seq)));
      }
      files.push({ name, writes: lines.flatMap((line) => writeIn(line) ?? []) });
    }
  return files.map(({ name, writes }) => ({
    name,
    unsettled: writes.filter(({ device, item }) => item.seq > (settled.get(device) ?? 0)),
  }));
}

/**
 * Deletes the files of closed tabs once their writes are stored elsewhere. Open files stay.
 * @param isElsewhere whether a write is stored elsewhere; files with any other write stay too
 */
export async function forgetKept(
  database: string,
  isElsewhere: (write: KeptWrite) => boolean = () => true,
): Promise<void> {
  const folder = await folderOf(database, false);
  for (const { name, unsettled } of await filesIn(folder))
    if (unsettled.every(isElsewhere)) await folder?.removeEntry(name).catch(() => undefined);
}

async function linesIn(handle: FileSystemFileHandle): Promise<readonly string[]> {
  // A file that cannot be opened belongs to an open tab.
  const file = await handle.getFile().catch(() => undefined);
  // A file that another tab has deleted in the meantime contains only writes that are stored elsewhere.
  const text = await file?.text().catch((reason: unknown) => {
    if (!isNamed(reason, 'NotFoundError')) throw reason;
  });
  return text?.split('\n') ?? [];
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
    // The folder does not exist, or the browser has no such files.
    return undefined;
  }
}

const entriesOf = (folder: FileSystemDirectoryHandle): AsyncIterable<[string, FileSystemHandle]> =>
  (folder as unknown as { entries(): AsyncIterable<[string, FileSystemHandle]> }).entries();

function writeIn(line: string): KeptWrite | undefined {
  // The rest of a line that was cut off may be valid JSON too: a number.
  const found = tryJson(line) as KeptWrite | { readonly item?: undefined } | null | undefined;
  return found?.item && found;
}
