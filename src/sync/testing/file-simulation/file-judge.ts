/** The invariants of files, during a simulation and at its end. */
import { ROOT } from '../../../engine/testing/engine-world.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { createMemoryFiles } from '../../device/files/file-store.ts';
import { RECHECK_MS } from '../../device/files/file-waiters.ts';
import { sweepFiles } from '../../device/files/sweep-files.ts';
import { chunkBytesOf, type FileName, type FilePlace } from '../../protocol/files.ts';
import type { Store } from '../../../store/port.ts';
import type { FileDevice, Note } from './file-device.ts';
import { mayRead, type FileHubWorld } from './file-hub-world.ts';
import { KEPT_MS, type FileRun } from './file-run.ts';

const CHUNK = SYNC_LIMITS.fileChunkBytes;
/** Within this time, a device that waits for an announced file must learn of it. Less than `RECHECK_MS`. */
const HEARD_MS = 60_000;

/** Everything that was done and must show at the end. */
export interface Deeds {
  readonly devices: readonly FileDevice[];
  readonly notes: readonly Note[];
  /** The bytes of each file. */
  readonly contents: ReadonlyMap<FileName, Uint8Array>;
}

export class FileJudge {
  private readonly run: FileRun;
  private readonly hub: FileHubWorld;
  private readonly deeds: Deeds;

  constructor(run: FileRun, hub: FileHubWorld, deeds: Deeds) {
    this.run = run;
    this.hub = hub;
    this.deeds = deeds;
  }

  /** F1: a device gets a chunk only if its user may read the document, and the document refers to the file. */
  async checkRight(device: FileDevice, { file, home: [, id] }: FilePlace): Promise<void> {
    const note = await this.hub.note(id);
    const isAllowed = note && mayRead(note, device.user) && note.photo === file;
    if (!isAllowed && !(await this.hub.hasJustChanged(id)))
      this.run.problems.push(`F1: user ${device.user} got a file of note ${id}`);
  }

  /** F8: a device is sent only documents that its user may read. */
  async checkHeard({ user }: FileDevice, id: string): Promise<void> {
    const note = await this.hub.note(id);
    const isAllowed = note && mayRead(note, user);
    if (!isAllowed && !(await this.hub.hasJustChanged(id)))
      this.run.problems.push(`F8: user ${user} hears of note ${id}`);
  }

  /** F7: a device that waits for a file learns of its announcement, and need not find it by asking again. */
  checkUnheard({ user }: FileDevice, { file, home: [, id] }: FilePlace): void {
    const hash = file.slice('file:'.length);
    const mark = [...this.hub.blobs].find(([key]) => key.endsWith(`/${id}/${hash}/announced`));
    this.run.count('file came without being heard of');
    if (mark && this.run.clockwork.now - mark[1].putMs > HEARD_MS)
      this.run.problems.push(`F7: user ${user} has not heard of the file of note ${id}`);
  }

  /** F7: it also gets the file. */
  private async checkWaits(): Promise<void> {
    await this.run.during(this.run.clockwork.sleep(RECHECK_MS + HEARD_MS));
    for (const { waiting, user } of this.deeds.devices)
      for (const { file, home } of waiting.waiting.values()) {
        const note = await this.hub.note(home[1]);
        if (note?.photo === file && mayRead(note, user))
          this.run.problems.push(`F7: user ${user} still waits for the file of note ${home[1]}`);
      }
  }

  /** F2: a file that is stored completely has the bytes that were put. */
  async checkStored({ store }: FileDevice, file: FileName): Promise<void> {
    const record = await store.record(file);
    if (!record?.isWhole) return;
    const parts: Uint8Array[] = [];
    for (const n of record.manifest.chunks.keys())
      parts.push((await store.chunk(file, n)) ?? new Uint8Array());
    if (!Buffer.concat(parts).equals(this.deeds.contents.get(file) ?? new Uint8Array()))
      this.run.problems.push(`F2: a device has other bytes of ${file}`);
  }

  /** All invariants that must hold when nothing is in transit. @param fetch fetches a file by a device; returns whether it succeeded */
  async checkEnd(fetch: (device: FileDevice, place: FilePlace) => Promise<boolean>): Promise<void> {
    const { problems } = this.run;
    if (problems.length === 0) await this.checkHub();
    if (problems.length === 0) await this.checkWaits();
    if (problems.length === 0) await this.checkFetches(fetch);
    if (problems.length === 0) await this.checkSweeps();
  }

  /** F4: the hub has the file of each note, with exactly the bytes that were put. */
  private async checkHub(): Promise<void> {
    for (const { id } of this.deeds.notes) {
      const note = await this.hub.note(id);
      if (!note?.photo) continue;
      this.run.count('file arrived');
      await this.run
        .during(this.hub.files.manifest(ROOT, { file: note.photo, home: ['notes', id] }))
        .catch(() => this.run.problems.push(`F4: the hub lacks the file of note ${id}`));
    }
    for (const [key, { bytes }] of this.hub.blobs) {
      const [, , , hash, part] = key.split('/');
      const content = this.deeds.contents.get(`file:${hash}`);
      const n = Number(part);
      if (!content || Number.isNaN(n)) continue;
      const expected = content.subarray(
        n * CHUNK,
        n * CHUNK + chunkBytesOf({ size: content.length }, n),
      );
      if (!Buffer.from(bytes).equals(expected))
        this.run.problems.push(`F4: ${key} has other bytes`);
    }
  }

  /** F5: users who may read a note get its file; others do not. */
  private async checkFetches(
    fetch: (device: FileDevice, place: FilePlace) => Promise<boolean>,
  ): Promise<void> {
    const [, other] = this.deeds.devices;
    if (!other) return;
    other.store = createMemoryFiles();
    for (const { id } of this.deeds.notes) {
      const note = await this.hub.note(id);
      if (!note?.photo || (await other.store.record(note.photo))?.isWhole) continue;
      const place = { file: note.photo, home: ['notes', id] } as const;
      const isFetched = await this.run.during(fetch(other, place));
      if (isFetched !== mayRead(note, other.user))
        this.run.problems.push(`F5: fetched ${isFetched} of note ${id}: ${JSON.stringify(note)}`);
    }
  }

  /** F6: after a while, files without references are gone, and all others are left. */
  private async checkSweeps(): Promise<void> {
    const wanted = new Set<string>();
    for (const { id } of this.deeds.notes) {
      const note = await this.hub.note(id);
      if (note?.photo) wanted.add(`${id} ${note.photo}`);
    }
    await this.run.during(this.run.clockwork.sleep(2 * KEPT_MS));
    await this.run.during(this.hub.sweep());
    const left = new Set(
      [...this.hub.blobs.keys()].map((key) => {
        const [, , id, hash] = key.split('/');
        return `${id} file:${hash}`;
      }),
    );
    const isSame = left.size === wanted.size && [...left].every((each) => wanted.has(each));
    if (!isSame) this.run.problems.push(`F6: the hub has ${left.size} files, not ${wanted.size}`);
    const named = new Set([...wanted].map((each) => each.split(' ')[1]));
    for (const { store } of this.deeds.devices) {
      const before = await store.records();
      const sweep = () =>
        sweepFiles(this.run.clockwork.now - KEPT_MS, {
          database: documentsOf(this.hub.world.store),
          store,
          nowMs: () => this.run.clockwork.now,
          pause: () => Promise.resolve(),
        });
      const first = await sweep();
      await this.run.during(this.run.clockwork.sleep(2 * KEPT_MS));
      const removed = first + (await sweep());
      if (removed > 0) this.run.count('device removes files');
      for (const { file } of await store.records())
        if (!named.has(file)) this.run.problems.push(`F6: a device still has ${file}`);
      for (const { file } of before)
        if (named.has(file) && !(await store.record(file)))
          this.run.problems.push(`F6: a device has removed ${file}`);
    }
  }
}

/** The store without the outbox, as on a device with nothing unsent: verdicts in the outbox name files, too. */
const documentsOf = (store: Store): Store => ({
  ...store,
  read: (body, options) =>
    options?.spaces?.includes('sync')
      ? body({ fetch: () => Promise.resolve({ rows: [], ranges: [] }) })
      : store.read(body, options),
});
