/**
 * Simulates files of several devices and a hub in virtual time, from one seed. Photos are taken, their documents change and are deleted,
 * rights change, devices die, connections fail and corrupt data, and the hub removes files without references, and loses files when it is
 * restored from an older backup.
 */
import { sha256 } from '../../../engine/testing/sha256.ts';
import { coll, create, obj } from '../../../engine/testing/engine-world.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { DamagedOnTheWay, fetchFile } from '../../device/files/fetch-file.ts';
import type { FileTransport } from '../../device/files/file-transport.ts';
import { putFile } from '../../device/files/put-file.ts';
import { noteFilesOf, sendFiles } from '../../device/files/send-files.ts';
import { RefusedByHub } from '../../device/syncer/transport.ts';
import type { FileName, FilePlace } from '../../protocol/files.ts';
import { when } from '../simulation/sim-schema.ts';
import { FileDevice, type Note } from './file-device.ts';
import { FileHubWorld } from './file-hub-world.ts';
import { FileJudge, type Deeds } from './file-judge.ts';
import { lineOf } from './file-line.ts';
import { FileRun, KEPT_MS, LOST, type FileMutant, type FileOutcome } from './file-run.ts';
import type { WaitingHost } from './waiting.ts';

const CHUNK = SYNC_LIMITS.fileChunkBytes;
const STEPS = 40;
const PATIENCE_MS = 300_000;

export async function simulateFiles(seed: number, mutant?: FileMutant): Promise<FileOutcome> {
  const run = new FileRun(seed, mutant);
  const world = await FileWorld.open(run);
  for (let step = 0; step < STEPS && run.problems.length === 0; step++) {
    run.clockwork.after(0, () => void world.act());
    const events = 1 + run.chance.below(25);
    for (let i = 0; i < events; i++) await run.clockwork.step();
  }
  await world.end();
  return run;
}

class FileWorld implements Deeds {
  private readonly run: FileRun;
  private readonly hub: FileHubWorld;
  private readonly judge: FileJudge;
  readonly devices: FileDevice[] = [];
  readonly notes: Note[] = [];
  /** The bytes of each file. */
  readonly contents = new Map<FileName, Uint8Array>();

  private constructor(run: FileRun, hub: FileHubWorld) {
    this.run = run;
    this.hub = hub;
    this.judge = new FileJudge(run, hub, this);
  }

  static async open(run: FileRun): Promise<FileWorld> {
    const hub = await FileHubWorld.open(run);
    const own = new FileWorld(run, hub);
    const tokens = [await hub.world.user(1), await hub.world.user(2)];
    for (const user of [0, 1, 0]) {
      const device = await hub.world.device(tokens[user]);
      own.devices.push(
        new FileDevice(run.clockwork, device, user, (each) => own.waitingHost(each)),
      );
    }
    return own;
  }

  // --- actions and faults ----------------------------------------------------------------------------

  async act(): Promise<void> {
    const { chance } = this.run;
    const device = chance.pick(this.devices);
    this.work(device);
    switch (chance.below(14)) {
      case 0:
      case 1:
      case 2:
        return this.takePhoto(device);
      case 3:
        return this.changeNote(device);
      case 4:
        return this.shareNote();
      case 5:
        return this.deleteNote();
      case 6:
        return this.fetchSome(device);
      case 7:
        this.run.count('device killed');
        device.restart();
        return undefined;
      case 8:
        return this.sweepHub();
      case 9:
        this.hub.keepCopy();
        return undefined;
      case 10:
        return this.restore();
      case 11:
      case 12:
        return device.waiting.waitForSome();
      default:
        this.run.clockwork.after(chance.next() * KEPT_MS * 2, () => undefined);
        return undefined;
    }
  }

  private async takePhoto(device: FileDevice): Promise<void> {
    const { chance } = this.run;
    const id = String(100 + this.notes.length);
    const note = { id, author: device };
    this.notes.push(note);
    const file = await this.put(device);
    this.run.count('photo taken');
    const owner = { ref: coll('users'), id: String(device.user + 1) };
    const open = chance.is(0.5);
    this.write(device, create({ ref: coll('notes'), id }, { owner, open, photo: file }));
  }

  private async changeNote(device: FileDevice): Promise<void> {
    const own = this.notes.filter(({ author }) => author === device);
    if (own.length === 0) return;
    const { id } = this.run.chance.pick(own);
    const photo = this.run.chance.is(0.3) ? null : await this.put(device);
    this.run.count(photo === null ? 'photo removed' : 'photo replaced');
    const ref = { ref: coll('notes'), id };
    const update = { update: ref, params: obj({ data: obj({ photo }) }) };
    this.write(device, when({ exists: ref }, update, null));
  }

  private async put(device: FileDevice): Promise<FileName> {
    const { chance } = this.run;
    // Few different photos, so that two notes may refer to the same file.
    const kind = chance.below(9);
    // Photos of the other kinds are unique: no other device has them before they are sent.
    const isOneOfFew = kind < 6;
    const size = isOneOfFew && kind >= 4 ? CHUNK + kind : 10 + kind;
    const bytes = new Uint8Array(size).fill(isOneOfFew ? kind + 1 : 100 + this.contents.size);
    const file = await putFile(new Blob([bytes]), {
      store: device.files,
      sha256,
      nowMs: () => this.run.clockwork.now,
    });
    this.contents.set(file, bytes);
    return file;
  }

  /** Stores the write before anything is sent. */
  private write(device: FileDevice, query: unknown): void {
    device.outbox.push(device.hub.item({ query, now: this.hub.world.now + this.notes.length }));
    this.work(device);
  }

  private async shareNote(): Promise<void> {
    if (this.notes.length === 0) return;
    const ref = { ref: coll('notes'), id: this.run.chance.pick(this.notes).id };
    const params = obj({ data: obj({ open: this.run.chance.is(0.5) }) });
    await this.hub.world.answer({ update: ref, params });
    this.run.count('rights changed');
  }

  private async deleteNote(): Promise<void> {
    if (this.notes.length === 0 || !this.run.chance.is(0.5)) return;
    await this.hub.world.answer({
      delete: { ref: coll('notes'), id: this.run.chance.pick(this.notes).id },
    });
    this.run.count('note deleted');
  }

  private async sweepHub(): Promise<void> {
    const removed = await this.hub.sweep();
    this.run.count(removed > 0 ? 'hub removes files' : 'hub finds nothing to remove');
  }

  private restore(): void {
    if (!this.hub.restore()) return;
    this.run.count('hub restored');
    for (const device of this.devices) this.work(device);
  }

  private async fetchSome(device: FileDevice): Promise<void> {
    if (this.contents.size === 0 || this.notes.length === 0) return;
    const file = this.run.chance.pick([...this.contents.keys()]);
    const { id } = this.run.chance.pick(this.notes);
    await this.fetch(device, { file, home: ['notes', id] });
  }

  private async fetch(device: FileDevice, place: FilePlace): Promise<boolean> {
    try {
      await this.fetchOrFail(device, place);
      return true;
    } catch {
      return false;
    }
  }

  private async fetchOrFail(device: FileDevice, place: FilePlace): Promise<void> {
    const host = { store: device.files, sha256, nowMs: () => this.run.clockwork.now };
    try {
      await fetchFile(place, this.line(device), host, { epoch: this.hub.epoch });
    } catch (reason) {
      this.expect(reason, 'fetch');
      throw reason;
    }
    this.run.count('file fetched');
    await this.judge.checkStored(device, place.file);
  }

  private waitingHost(device: FileDevice): WaitingHost {
    const { clockwork, chance, mutant } = this.run;
    return {
      world: this.hub.world,
      clockwork,
      chance,
      count: (what) => this.run.count(what),
      loss: () => this.run.loss,
      onDocument: (id) => this.judge.checkHeard(device, id),
      fetch: (place) => this.fetchOrFail(device, place),
      onUnheard: (place) => this.judge.checkUnheard(device, place),
      isDeafWhileAsking: mutant === 'a hint that comes during a request is ignored',
    };
  }

  // --- the work of a device -------------------------------------------------------------------------

  private work(device: FileDevice): void {
    void this.push(device);
    void this.send(device);
  }

  private async push(device: FileDevice): Promise<void> {
    if (device.isPushing) return;
    device.isPushing = true;
    const { process } = device;
    for (const record of device.verdicts) await noteFilesOf(record, device.files);
    for (let item = device.outbox[0]; item; item = device.outbox[0]) {
      await this.run.clockwork.sleep(this.run.chance.next() * 2000);
      await process.pass();
      if (this.run.chance.is(this.run.loss)) continue;
      const pushed = await device.hub.push(item);
      // If the answer is lost, the same write is sent again.
      if (this.run.chance.is(this.run.loss)) continue;
      await process.pass();
      const [verdict] = pushed.verdicts;
      if (!verdict) throw new Error('A write has no verdict.');
      const told =
        this.run.mutant === 'verdicts name no files' ? { ...verdict, files: [] } : verdict;
      device.verdicts.push(told);
      device.outbox.shift();
      void device.waiting.pull();
      this.run.count(`verdict ${verdict.state}`);
      await process.pass();
      await noteFilesOf(told, device.files);
      void this.send(device);
    }
    device.isPushing = false;
  }

  private async send(device: FileDevice): Promise<void> {
    if (device.isSending) return;
    device.isSending = true;
    const { process } = device;
    const last = new Set<FileName>();
    for (let isDone = false; !isDone;) {
      await process.pass();
      try {
        await sendFiles(device.files, this.line(device), {
          sha256,
          epoch: this.hub.epoch,
          onSent: (_, __, failed) =>
            this.run.count(failed === undefined ? 'part sent' : 'not sent'),
          isStopped: () => !process.isAlive,
          last,
        });
        isDone = true;
      } catch (reason) {
        this.expect(reason, 'send');
        await this.run.clockwork.sleep(1000);
      }
    }
    device.isSending = false;
  }

  private expect(reason: unknown, what: string): void {
    const isExpected =
      reason === LOST || reason instanceof RefusedByHub || reason instanceof DamagedOnTheWay;
    if (!isExpected) this.run.problems.push(`${what}: ${String(reason)}`);
    else if (reason instanceof RefusedByHub) this.run.count(`refused: ${reason.refusal.code}`);
    else this.run.count(reason === LOST ? 'line breaks' : 'damaged on the way');
  }

  private line(device: FileDevice): FileTransport {
    return lineOf(this.run, this.hub, device, (place) => this.judge.checkRight(device, place));
  }

  // --- the end --------------------------------------------------------------------------------------

  /** Nothing fails any more, and there is time. */
  async end(): Promise<void> {
    this.run.calm();
    for (const device of this.devices) {
      if (device.waiting.waiting.size === 0) device.restart();
      for (let i = 0; i < 3; i++) device.waiting.waitForSome();
    }
    const end = this.run.clockwork.now + PATIENCE_MS;
    while (this.run.problems.length === 0 && !(await this.isDrained())) {
      if (this.run.clockwork.now > end) this.run.problems.push('F3: files are still on their way');
      for (const device of this.devices) this.work(device);
      for (let i = 0; i < 20; i++) await this.run.clockwork.step();
    }
    await this.judge.checkEnd((device, place) => this.fetch(device, place));
  }

  private async isDrained(): Promise<boolean> {
    for (const { outbox, store, isSending } of this.devices) {
      if (outbox.length > 0 || isSending) return false;
      if (
        (await store.records()).some(
          ({ unsent, sent, epoch }) =>
            unsent.length > 0 || (sent.length > 0 && epoch !== this.hub.epoch),
        )
      )
        return false;
    }
    return true;
  }
}
