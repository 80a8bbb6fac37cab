/**
 * A second copy of unsent writes outside IndexedDB, in files of the origin: a browser that loses its database keeps them. One line for
 * each write. See docs/decisions/0004-crash.md.
 */
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
/** Up to which number the writes of a device have verdicts. Not JSON: builds before it skip such a line. */
const SETTLED = /^(\d+) (\w+)$/;
const ALL = Number.MAX_SAFE_INTEGER;

/** A file, with the highest number of the writes in it; 0: none. */
interface Segment {
  readonly access: SyncAccess;
  last: number;
}

/**
 * Two files per tab: a file can be open in one tab only. Writes get their verdicts in order, so one file is written until it is full,
 * then the other, and each is truncated when all of its writes have verdicts.
 */
export class OutboxFile {
  /** How many writes have been kept. */
  kept = 0;
  /** The first is written. */
  private readonly segments: [Segment, Segment];
  private readonly pause: () => Promise<void>;
  private flushing: Promise<void> | undefined = undefined;
  private device: DeviceId | undefined = undefined;
  /** Lines that say of former ids of the device that none of their writes is unsent. */
  private moved = '';

  /** @param pause a turn of the event loop: a write is sent to the hub before the disk is waited for */
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

  /** When it returns, the operating system has the bytes: a killed browser does not lose them. */
  keep(write: KeptWrite): void {
    const { segments } = this;
    const { device } = write;
    const { seq } = write.item;
    // Under another id, the writes before it have lower numbers than it.
    if (device !== this.device) for (const segment of segments) segment.last &&= seq;
    this.device = device;
    if (segments[1].last === 0 && segments[0].access.getSize() > FULL_BYTES) segments.reverse();
    const [segment] = segments;
    append(segment.access, JSON.stringify(write));
    segment.last = Math.max(segment.last, seq);
    this.kept += 1;
  }

  /** Resolves when the lines outlive a power failure too. Calls of one turn share one flush. */
  flushed(): Promise<void> {
    this.flushing ??= this.pause().then(() => {
      this.flushing = undefined;
      for (const { access } of this.segments) access.flush();
    });
    return this.flushing;
  }

  /**
   * Truncates what holds no write without a verdict: the hub recognizes any that are sent again.
   * @param kept how many writes had been kept before the state was read
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
        // Files of other tabs may still have some of the writes up to there: the others are not missing.
        append(beside.access, `${this.moved}${settledSeq} ${device}`);
      } catch {
        // Truncating makes room.
      }
      segment.access.truncate(0);
      segment.last = 0;
    }
  }

  /**
   * The writes without a verdict have been numbered anew, under another id of the device: none is to be found under the former one any more,
   * in this file or another.
   */
  move(before: DeviceId, device: DeviceId, writes: readonly KeptWrite[]): void {
    const { segments } = this;
    this.moved += `${ALL} ${before}\n`;
    const lines = writes.map((write) => `${JSON.stringify(write)}\n`).join('') + this.moved;
    const [one, other] = segments;
    // At no time is neither there.
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
    // Half a line would make the next one unreadable.
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
      // Until it is open, a tab that deletes the files of closed tabs takes it for one of them.
      if (!isNamed(reason, 'NotFoundError') || tries === TRIES_MAX) throw reason;
    }
  }
}

/** Writes in the files of earlier tabs, in order, without a last line that a kill cut off. */
export async function readKept(database: string): Promise<readonly KeptWrite[]> {
  const files = await filesIn(await folderOf(database, false));
  const unsettled = files.flatMap((file) => file.unsettled);
  const writes = new Map(unsettled.map((write) => [`${write.device}/${write.item.seq}`, write]));
  return [...writes.values()].sort((a, b) => a.item.seq - b.item.seq);
}

/**
 * The last write under the id of the device that the latest write has: the device may have had other ids before, and what a tab kept under
 * one of those, and was killed, has other numbers now.
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

/** Those that can be read, with their writes that have no verdict, as far as all of them say. */
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
 * Deletes the files of closed tabs, once their writes are stored elsewhere. Open files stay.
 * @param isElsewhere whether a write is stored elsewhere: files with others stay too
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
  // One that another tab has deleted meanwhile holds nothing that is not stored elsewhere.
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
    // No such folder, or no such files in this browser.
    return undefined;
  }
}

const entriesOf = (folder: FileSystemDirectoryHandle): AsyncIterable<[string, FileSystemHandle]> =>
  (folder as unknown as { entries(): AsyncIterable<[string, FileSystemHandle]> }).entries();

function writeIn(line: string): KeptWrite | undefined {
  try {
    // The rest of a line that was cut off may be JSON too: a number.
    const found = JSON.parse(line) as KeptWrite | { readonly item?: undefined };
    return found.item && found;
  } catch {
    return undefined;
  }
}
