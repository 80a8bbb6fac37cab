/**
 * Files of several devices and a hub in virtual time, from one seed: photos are taken, their documents change and go, rights change, and
 * devices die, lines break and lie, the hub removes what nothing refers to, and loses what it had to an older copy.
 */
import type { Engine } from '../../../engine/engine.ts';
import { coll, create, obj, ROOT } from '../../../engine/testing/engine-world.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { createMemoryFiles, type FileStore } from '../../device/files/file-store.ts';
import type { FileTransport } from '../../device/files/file-transport.ts';
import { DamagedOnTheWay, fetchFile } from '../../device/files/fetch-file.ts';
import { putFile } from '../../device/files/put-file.ts';
import { UNHEARD_MS } from '../../device/files/file-waits.ts';
import { noteFilesOf, sendFiles } from '../../device/files/send-files.ts';
import { sweepFiles } from '../../device/files/sweep-files.ts';
import { RefusedByHub, type HubAnswer } from '../../device/syncer/transport.ts';
import type { BlobStore } from '../../hub/files/blob-store.ts';
import { FileHub } from '../../hub/files/file-hub.ts';
import { chunkBytesOf, type FileName, type FilePlace } from '../../protocol/files.ts';
import type { Store } from '../../../store/port.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import { HubWorld, sha256, type Device } from '../hub-world.ts';
import { Chance, Clockwork, turn } from '../simulation/clockwork.ts';
import { Process } from '../simulation/processes.ts';
import { when } from '../simulation/sim-schema.ts';
import { WaitingDevice, type WaitingHost } from './waiting.ts';

export const FILE_MUTANTS = [
  'chunks are not checked',
  'rights are not looked at',
  'verdicts name no files',
  'the hub says that it has everything',
  'what is referred to is removed',
  'a restored hub is not asked again',
  'a file that has become whole is not announced',
  'what is heard while the hub is asked is forgotten',
] as const;
export type FileMutant = (typeof FILE_MUTANTS)[number];

export interface FileOutcome {
  readonly problems: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

const CHUNK = SYNC_LIMITS.fileChunkBytes;
const STEPS = 40;
const PATIENCE_MS = 300_000;
/** Longer than anything is on its way. */
const KEPT_MS = 60_000;
/** In it, whoever waits for a file that was announced hears of it: less than `UNHEARD_MS`. */
const HEARD_MS = 60_000;
const LOST = new TypeError('lost');

export async function simulateFiles(seed: number, mutant?: FileMutant): Promise<FileOutcome> {
  const world = await FileWorld.open(seed, mutant);
  for (let step = 0; step < STEPS && world.problems.length === 0; step++) {
    world.clockwork.after(0, () => void world.act());
    const events = 1 + world.chance.below(25);
    for (let i = 0; i < events; i++) await world.clockwork.step();
  }
  await world.end();
  return world;
}

/** A note of one device, as its author wrote it last. */
interface Note {
  readonly id: string;
  readonly author: FileDevice;
}

class FileDevice {
  store: FileStore = createMemoryFiles();
  process: Process;
  waiting: WaitingDevice;
  /** Stored: writes without a verdict, and verdicts. */
  outbox: PushItem[] = [];
  verdicts: Verdict[] = [];
  /** What this process is doing. */
  isPushing = false;
  isSending = false;
  readonly user: number;
  readonly hub: Device;
  private readonly clockwork: Clockwork;
  private readonly hostOf: (device: FileDevice) => WaitingHost;

  constructor(
    clockwork: Clockwork,
    hub: Device,
    user: number,
    hostOf: (device: FileDevice) => WaitingHost,
  ) {
    this.clockwork = clockwork;
    this.hub = hub;
    this.user = user;
    this.hostOf = hostOf;
    this.process = new Process(clockwork, () => undefined);
    this.waiting = this.beginWaiting();
  }

  private beginWaiting(): WaitingDevice {
    const waiting = new WaitingDevice(this.hub, this.process, this.hostOf(this));
    void waiting.begin();
    return waiting;
  }

  restart(): void {
    this.process.kill('restart');
    this.process = new Process(this.clockwork, () => undefined);
    this.isPushing = false;
    this.isSending = false;
    this.waiting = this.beginWaiting();
  }
}

class FileWorld implements FileOutcome {
  readonly problems: string[] = [];
  readonly counts = new Map<string, number>();
  readonly chance: Chance;
  readonly clockwork: Clockwork;
  private readonly mutant: FileMutant | undefined;
  private readonly world: HubWorld;
  private readonly blobs = new Map<
    string,
    { readonly bytes: Uint8Array; readonly putMs: number }
  >();
  private readonly devices: FileDevice[] = [];
  private readonly notes: Note[] = [];
  /** What each file is. */
  private readonly contents = new Map<FileName, Uint8Array>();
  private files!: FileHub;
  private copy: typeof this.blobs | undefined;
  private epoch = 0;
  private loss = 0.2;
  private lies = 0.05;

  private constructor(seed: number, mutant: FileMutant | undefined, world: HubWorld) {
    this.mutant = mutant;
    this.world = world;
    this.chance = new Chance(seed);
    this.clockwork = new Clockwork(this.chance);
  }

  static async open(seed: number, mutant?: FileMutant): Promise<FileWorld> {
    const hub = await HubWorld.open();
    const own = new FileWorld(seed, mutant, hub);
    for (const name of ['users', 'notes']) await hub.ask({ create_collection: obj({ name }) });
    const mine = {
      equals: [
        { select: ['data', 'owner'], from: { get: { var: 'r' } } },
        { current_identity: null },
      ],
    };
    const open = { select: ['data', 'open'], from: { get: { var: 'r' } }, default: false };
    const byOwner = { query: { lambda: 'r', expr: { or: [open, mine] } } };
    await hub.ask({
      create_role: obj({
        name: 'people',
        membership: [obj({ resource: coll('users') })],
        privileges: [
          obj({
            resource: coll('notes'),
            actions: obj({
              create: true,
              create_with_id: true,
              write: true,
              delete: true,
              read: byOwner,
            }),
          }),
        ],
      }),
    });
    const tokens = [await hub.user(1), await hub.user(2)];
    for (const user of [0, 1, 0]) {
      const device = await hub.device(tokens[user]);
      own.devices.push(
        new FileDevice(own.clockwork, device, user, (each) => own.waitingHost(each)),
      );
    }
    own.files = new FileHub({
      engine: own.engineOfFiles(),
      blobs: own.blobStore(),
      fileBytes: SYNC_LIMITS.fileBytes,
      clock: () => hub.now,
      random: (count) => own.chance.bytes(count),
      sha256,
      rootSecret: ROOT,
    });
    return own;
  }

  // --- what is done, and what goes wrong ------------------------------------------------------------

  async act(): Promise<void> {
    const { chance } = this;
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
        this.count('device killed');
        device.restart();
        return undefined;
      case 8:
        return this.sweepHub();
      case 9:
        this.copy = new Map(this.blobs);
        return undefined;
      case 10:
        return this.restore();
      case 11:
      case 12:
        return device.waiting.waitForSome();
      default:
        this.clockwork.after(chance.next() * KEPT_MS * 2, () => undefined);
        return undefined;
    }
  }

  private async takePhoto(device: FileDevice): Promise<void> {
    const { chance } = this;
    const id = String(100 + this.notes.length);
    const note = { id, author: device };
    this.notes.push(note);
    const file = await this.put(device);
    this.count('photo taken');
    const owner = { ref: coll('users'), id: String(device.user + 1) };
    const open = chance.is(0.5);
    this.write(device, create({ ref: coll('notes'), id }, { owner, open, photo: file }));
  }

  private async changeNote(device: FileDevice): Promise<void> {
    const own = this.notes.filter(({ author }) => author === device);
    if (own.length === 0) return;
    const { id } = this.chance.pick(own);
    const photo = this.chance.is(0.3) ? null : await this.put(device);
    this.count(photo === null ? 'photo removed' : 'photo replaced');
    const ref = { ref: coll('notes'), id };
    const update = { update: ref, params: obj({ data: obj({ photo }) }) };
    this.write(device, when({ exists: ref }, update, null));
  }

  private async put(device: FileDevice): Promise<FileName> {
    const { chance } = this;
    // Few different ones: two notes may refer to the same.
    const kind = chance.below(9);
    // Of the others no device has any before it is sent.
    const isOneOfFew = kind < 6;
    const size = isOneOfFew && kind >= 4 ? CHUNK + kind : 10 + kind;
    const bytes = new Uint8Array(size).fill(isOneOfFew ? kind + 1 : 100 + this.contents.size);
    const { process } = device;
    const file = await putFile(new Blob([bytes]), {
      store: passing(device.store, process),
      sha256,
      nowMs: () => this.clockwork.now,
    });
    this.contents.set(file, bytes);
    return file;
  }

  /** Stored before anything is sent. */
  private write(device: FileDevice, query: unknown): void {
    device.outbox.push(device.hub.item({ query, now: this.world.now + this.notes.length }));
    this.work(device);
  }

  private async shareNote(): Promise<void> {
    if (this.notes.length === 0) return;
    const ref = { ref: coll('notes'), id: this.chance.pick(this.notes).id };
    const params = obj({ data: obj({ open: this.chance.is(0.5) }) });
    await this.world.answer({ update: ref, params });
    this.count('rights changed');
  }

  private async deleteNote(): Promise<void> {
    if (this.notes.length === 0 || !this.chance.is(0.5)) return;
    await this.world.answer({
      delete: { ref: coll('notes'), id: this.chance.pick(this.notes).id },
    });
    this.count('note deleted');
  }

  private async sweepHub(): Promise<void> {
    const removed = await this.sweep();
    this.count(removed > 0 ? 'hub removes files' : 'hub finds nothing to remove');
  }

  private async sweep(): Promise<number> {
    const before = this.clockwork.now - KEPT_MS;
    if (this.mutant !== 'what is referred to is removed') return this.files.sweep(before);
    for (const [key, { putMs }] of this.blobs) if (putMs < before) this.blobs.delete(key);
    return 1;
  }

  private restore(): void {
    if (!this.copy) return;
    this.count('hub restored');
    this.blobs.clear();
    for (const [key, blob] of this.copy)
      this.blobs.set(key, { ...blob, putMs: this.clockwork.now });
    this.epoch += 1;
    for (const device of this.devices) this.work(device);
  }

  private async fetchSome(device: FileDevice): Promise<void> {
    if (this.contents.size === 0 || this.notes.length === 0) return;
    const file = this.chance.pick([...this.contents.keys()]);
    const { id } = this.chance.pick(this.notes);
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
    const { process } = device;
    const host = { store: passing(device.store, process), sha256, nowMs: () => this.clockwork.now };
    try {
      await fetchFile(place, this.transport(device), host, { epoch: this.hubEpoch });
    } catch (reason) {
      this.expect(reason, 'fetch');
      throw reason;
    }
    this.count('file fetched');
    await this.checkStored(device, place.file);
  }

  private waitingHost(device: FileDevice): WaitingHost {
    const { world, clockwork, chance, mutant } = this;
    return {
      world,
      clockwork,
      chance,
      count: (what) => this.count(what),
      loss: () => this.loss,
      onDocument: (id) => this.checkHeard(device, id),
      fetch: (place) => this.fetchOrFail(device, place),
      onUnheard: (place) => this.checkUnheard(device, place),
      isDeafWhileAsking: mutant === 'what is heard while the hub is asked is forgotten',
    };
  }

  /** Of a hub that stops now and then, before it has announced a file. */
  private engineOfFiles(): Pick<Engine, 'transactions'> {
    const { transactions } = this.world.engine;
    const write: typeof transactions.write = (body) => {
      if (this.mutant === 'a file that has become whole is not announced')
        return transactions.write((input) => ({ ...body(input), keep: false }));
      if (!this.chance.is(this.loss)) return transactions.write(body);
      this.count('hub stops before it announces');
      return Promise.reject(LOST);
    };
    const read: typeof transactions.read = (...given) => transactions.read(...given);
    return { transactions: { ...transactions, read, write } };
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
    for (const record of device.verdicts) await noteFilesOf(record, passing(device.store, process));
    for (let item = device.outbox[0]; item; item = device.outbox[0]) {
      await this.clockwork.sleep(this.chance.next() * 2000);
      await process.pass();
      if (this.chance.is(this.loss)) continue;
      const pushed = await device.hub.push(item);
      // The answer is lost: the same write is sent again.
      if (this.chance.is(this.loss)) continue;
      await process.pass();
      const [verdict] = pushed.verdicts;
      if (!verdict) throw new Error('A write has no verdict.');
      const told = this.mutant === 'verdicts name no files' ? { ...verdict, files: [] } : verdict;
      device.verdicts.push(told);
      device.outbox.shift();
      void device.waiting.pull();
      this.count(`verdict ${verdict.state}`);
      await process.pass();
      await noteFilesOf(told, passing(device.store, process));
      void this.send(device);
    }
    device.isPushing = false;
  }

  private async send(device: FileDevice): Promise<void> {
    if (device.isSending) return;
    device.isSending = true;
    const { process } = device;
    for (let isDone = false; !isDone;) {
      await process.pass();
      try {
        await sendFiles(passing(device.store, process), this.transport(device), {
          sha256,
          epoch: this.hubEpoch,
          onSent: (_, __, failed) => this.count(failed === undefined ? 'part sent' : 'not sent'),
          isStopped: () => !process.isAlive,
        });
        isDone = true;
      } catch (reason) {
        this.expect(reason, 'send');
        await this.clockwork.sleep(1000);
      }
    }
    device.isSending = false;
  }

  private get hubEpoch(): string {
    const isDeaf = this.mutant === 'a restored hub is not asked again';
    return isDeaf ? 'the first' : String(this.epoch);
  }

  private expect(reason: unknown, what: string): void {
    const isExpected =
      reason === LOST || reason instanceof RefusedByHub || reason instanceof DamagedOnTheWay;
    if (!isExpected) this.problems.push(`${what}: ${String(reason)}`);
    else if (reason instanceof RefusedByHub) this.count(`refused: ${reason.refusal.code}`);
    else this.count(reason === LOST ? 'line breaks' : 'damaged on the way');
  }

  /** Loses, doubles, delays, and changes bytes. */
  private transport(device: FileDevice): FileTransport {
    const { files, mutant } = this;
    const { secret } = device.hub;
    const exchange = async <T>(ask: () => Promise<T>): Promise<HubAnswer<T>> => {
      const { process } = device;
      await this.clockwork.sleep(this.chance.next() * 3000);
      await process.pass();
      if (this.chance.is(this.loss)) throw LOST;
      if (this.chance.is(this.lies))
        this.clockwork.after(this.chance.next() * 5000, () => void ask().catch(() => undefined));
      const answer = await answered(ask());
      await this.clockwork.sleep(this.chance.next() * 1000);
      await process.pass();
      if (this.chance.is(this.loss)) throw LOST;
      return answer;
    };
    const carried = (bytes: Uint8Array): Uint8Array =>
      this.chance.is(this.lies) ? bytes.map((byte) => byte ^ 1) : bytes.slice();
    const reader = mutant === 'rights are not looked at' ? ROOT : secret;
    return {
      begin: async (place, manifest) => {
        const answer = await exchange(() => files.begin(secret, place, manifest));
        const hasAll = mutant === 'the hub says that it has everything' && answer.ok;
        return hasAll ? { ok: true, value: { missing: [] } } : answer;
      },
      write: (place, n, bytes) => {
        const sent = carried(bytes);
        return exchange(async () => {
          if (mutant === 'chunks are not checked') this.putUnchecked(place, n, sent);
          else await files.write(secret, place, n, sent);
          return undefined;
        });
      },
      manifest: (place) => exchange(() => files.manifest(reader, place)),
      read: (place, n) =>
        exchange(async () => {
          const bytes = await files.read(reader, place, n);
          await this.checkRight(device, place);
          return carried(bytes);
        }),
    };
  }

  private putUnchecked({ file, home: [, id] }: FilePlace, n: number, bytes: Uint8Array): void {
    const hash = file.slice('file:'.length);
    const folder = [...this.blobs.keys()].find((key) => key.includes(`/${id}/${hash}/`));
    if (folder === undefined) return;
    const key = `${folder.slice(0, folder.lastIndexOf('/') + 1)}${n}`;
    this.blobs.set(key, { bytes, putMs: this.clockwork.now });
  }

  private blobStore(): BlobStore {
    const { blobs } = this;
    const pass = (): Promise<void> => this.clockwork.sleep(this.chance.next() * 20);
    return {
      put: async (key, bytes) => {
        await pass();
        blobs.set(key, { bytes: bytes.slice(), putMs: this.clockwork.now });
      },
      get: async (key) => {
        await pass();
        return blobs.get(key)?.bytes;
      },
      async *list(prefix) {
        await pass();
        for (const [key, { putMs }] of [...blobs].sort(([a], [b]) => (a < b ? -1 : 1)))
          if (key.startsWith(prefix)) yield { key, putMs };
      },
      delete: async (keys) => {
        await pass();
        for (const key of keys) blobs.delete(key);
      },
    };
  }

  // --- what must hold -------------------------------------------------------------------------------

  /** F1: whoever gets a chunk may read the document, which refers to the file. */
  private async checkRight(device: FileDevice, { file, home: [, id] }: FilePlace): Promise<void> {
    const note = await this.noteAtHub(id);
    const isAllowed = note && (note.open || note.owner === device.user) && note.photo === file;
    // The answer was decided a moment ago: what has changed since is for the next one.
    if (!isAllowed && !(await this.hasJustChanged(id)))
      this.problems.push(`F1: user ${device.user} got a file of note ${id}`);
  }

  private async hasJustChanged(id: string): Promise<boolean> {
    const events = { events: { ref: coll('notes'), id } };
    const answer = await this.world.answer({ paginate: events, size: 1000 });
    const { resource } = JSON.parse(answer.body) as { resource?: { data: { ts: number }[] } };
    const last = resource?.data.at(-1)?.ts ?? 0;
    return this.world.now - last < 10_000_000;
  }

  /** F8: a device is sent the documents that its user may read, and no others. */
  private async checkHeard({ user }: FileDevice, id: string): Promise<void> {
    const note = await this.noteAtHub(id);
    const isAllowed = note && (note.open || note.owner === user);
    if (!isAllowed && !(await this.hasJustChanged(id)))
      this.problems.push(`F8: user ${user} hears of note ${id}`);
  }

  /** F7: whoever waits for a file hears of it when it was announced, and need not ask again and again. */
  private checkUnheard({ user }: FileDevice, { file, home: [, id] }: FilePlace): void {
    const hash = file.slice('file:'.length);
    const mark = [...this.blobs].find(([key]) => key.endsWith(`/${id}/${hash}/announced`));
    this.count('file came without being heard of');
    if (mark && this.clockwork.now - mark[1].putMs > HEARD_MS)
      this.problems.push(`F7: user ${user} has not heard of the file of note ${id}`);
  }

  /** F7: and gets it. */
  private async checkWaits(): Promise<void> {
    await this.during(this.clockwork.sleep(UNHEARD_MS + HEARD_MS));
    for (const { waiting, user } of this.devices)
      for (const { file, home } of waiting.waiting.values()) {
        const note = await this.noteAtHub(home[1]);
        if (note?.photo === file && (note.open || note.owner === user))
          this.problems.push(`F7: user ${user} still waits for the file of note ${home[1]}`);
      }
  }

  /** F2: what is stored as whole is what was put. */
  private async checkStored({ store }: FileDevice, file: FileName): Promise<void> {
    const record = await store.record(file);
    if (!record?.isWhole) return;
    const parts: Uint8Array[] = [];
    for (const n of record.manifest.chunks.keys())
      parts.push((await store.chunk(file, n)) ?? new Uint8Array());
    if (!Buffer.concat(parts).equals(this.contents.get(file) ?? new Uint8Array()))
      this.problems.push(`F2: a device has other bytes of ${file}`);
  }

  private async noteAtHub(id: string) {
    const ref = { ref: coll('notes'), id };
    const got = { select: ['data'], from: { get: ref }, default: null };
    const answer = await this.world.answer(when({ exists: ref }, got, null));
    const { resource } = JSON.parse(answer.body) as { resource?: Record<string, unknown> | null };
    if (!resource) return undefined;
    const owner = (resource['owner'] as { '@ref': { id: string } })['@ref'].id;
    const photo = resource['photo'] as FileName | undefined;
    return { owner: Number(owner) - 1, open: resource['open'] === true, photo };
  }

  /** Everything works again, and has time. */
  async end(): Promise<void> {
    this.loss = 0;
    this.lies = 0;
    for (const device of this.devices) {
      if (device.waiting.waiting.size === 0) device.restart();
      for (let i = 0; i < 3; i++) device.waiting.waitForSome();
    }
    const end = this.clockwork.now + PATIENCE_MS;
    while (this.problems.length === 0 && !(await this.isDrained())) {
      if (this.clockwork.now > end) this.problems.push('F3: files are still on their way');
      for (const device of this.devices) this.work(device);
      for (let i = 0; i < 20; i++) await this.clockwork.step();
    }
    if (this.problems.length === 0) await this.checkHub();
    if (this.problems.length === 0) await this.checkWaits();
    if (this.problems.length === 0) await this.checkFetches();
    if (this.problems.length === 0) await this.checkSweeps();
  }

  private async isDrained(): Promise<boolean> {
    for (const { outbox, store, isSending } of this.devices) {
      if (outbox.length > 0 || isSending) return false;
      if (
        (await store.records()).some(
          ({ unsent, sent, epoch }) =>
            unsent.length > 0 || (sent.length > 0 && epoch !== this.hubEpoch),
        )
      )
        return false;
    }
    return true;
  }

  /** F4: the hub has the file of each note, and nothing else than was put. */
  private async checkHub(): Promise<void> {
    for (const { id } of this.notes) {
      const note = await this.noteAtHub(id);
      if (!note?.photo) continue;
      this.count('file arrived');
      await this.during(this.files.manifest(ROOT, { file: note.photo, home: ['notes', id] })).catch(
        () => this.problems.push(`F4: the hub lacks the file of note ${id}`),
      );
    }
    for (const [key, { bytes }] of this.blobs) {
      const [, , , hash, part] = key.split('/');
      const content = this.contents.get(`file:${hash}`);
      const n = Number(part);
      if (!content || part === 'manifest' || part === 'announced') continue;
      const expected = content.subarray(
        n * CHUNK,
        n * CHUNK + chunkBytesOf({ size: content.length }, n),
      );
      if (!Buffer.from(bytes).equals(expected)) this.problems.push(`F4: ${key} has other bytes`);
    }
  }

  /** F5: whoever may read a note gets its file; nobody else does. */
  private async checkFetches(): Promise<void> {
    const [, other] = this.devices;
    if (!other) return;
    other.store = createMemoryFiles();
    for (const { id } of this.notes) {
      const note = await this.noteAtHub(id);
      if (!note?.photo || (await other.store.record(note.photo))?.isWhole) continue;
      const place = { file: note.photo, home: ['notes', id] } as const;
      const isFetched = await this.during(this.fetch(other, place));
      if (isFetched !== (note.open || note.owner === other.user))
        this.problems.push(`F5: fetched ${isFetched} of note ${id}: ${JSON.stringify(note)}`);
    }
  }

  /** F6: after a while nothing is left of what nobody refers to, and all of the rest. */
  private async checkSweeps(): Promise<void> {
    const wanted = new Set<string>();
    for (const { id } of this.notes) {
      const note = await this.noteAtHub(id);
      if (note?.photo) wanted.add(`${id} ${note.photo}`);
    }
    await this.during(this.clockwork.sleep(2 * KEPT_MS));
    await this.during(this.sweep());
    const left = new Set(
      [...this.blobs.keys()].map((key) => {
        const [, , id, hash] = key.split('/');
        return `${id} file:${hash}`;
      }),
    );
    const isSame = left.size === wanted.size && [...left].every((each) => wanted.has(each));
    if (!isSame) this.problems.push(`F6: the hub has ${left.size} files, not ${wanted.size}`);
    const named = new Set([...wanted].map((each) => each.split(' ')[1]));
    for (const { store } of this.devices) {
      const removed = await sweepFiles(this.clockwork.now - KEPT_MS, {
        database: documentsOf(this.world.store),
        store,
        nowMs: () => this.clockwork.now,
        pause: () => Promise.resolve(),
      });
      if (removed > 0) this.count('device removes files');
      for (const { file } of await store.records())
        if (!named.has(file)) this.problems.push(`F6: a device still has ${file}`);
    }
  }

  /** Time goes on until it is done. */
  private async during<T>(work: Promise<T>): Promise<T> {
    const state = { isDone: false };
    const end = (): void => {
      state.isDone = true;
    };
    work.then(end, end);
    while (!state.isDone) if (!(await this.clockwork.step())) await turn();
    return work;
  }

  private count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

/** A store of a process: what it has begun when it dies is not heard of again. */
function passing(store: FileStore, process: Process): FileStore {
  const pass = async <T>(work: () => Promise<T>): Promise<T> => {
    await process.pass();
    const value = await work();
    await process.pass();
    return value;
  };
  return {
    record: (file) => pass(() => store.record(file)),
    records: () => pass(() => store.records()),
    update: (file, change) => pass(() => store.update(file, change)),
    chunk: (file, n) => pass(() => store.chunk(file, n)),
    putChunk: (file, n, bytes) => pass(() => store.putChunk(file, n, bytes)),
    remove: (file, isStill) => pass(() => store.remove(file, isStill)),
  };
}

/** What a device with nothing unsent would hold: verdicts of the hub name files too. */
const documentsOf = (store: Store): Store => ({
  ...store,
  read: (body, options) =>
    options?.spaces?.includes('sync')
      ? body({ fetch: () => Promise.resolve({ rows: [], ranges: [] }) })
      : store.read(body, options),
});

async function answered<T>(ask: Promise<T>): Promise<HubAnswer<T>> {
  try {
    return { ok: true, value: await ask };
  } catch (reason) {
    if (reason instanceof SyncRefused) return { ok: false, refusal: reason.refusal };
    throw reason;
  }
}
