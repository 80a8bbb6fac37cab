/** A device of the simulation: what it has stored, and what its process is doing. */
import { createMemoryFiles, type FileStore } from '../../device/files/file-store.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import type { Device } from '../hub-world.ts';
import type { Clockwork } from '../simulation/clockwork.ts';
import { Process } from '../simulation/processes.ts';
import { WaitingDevice, type WaitingHost } from './waiting.ts';

/** A note of one device, as its author last wrote it. */
export interface Note {
  readonly id: string;
  readonly author: FileDevice;
}

export class FileDevice {
  store: FileStore = createMemoryFiles();
  process: Process;
  waiting: WaitingDevice;
  /** Stored data: writes without a verdict, and verdicts. */
  outbox: PushItem[] = [];
  verdicts: Verdict[] = [];
  /** What the process is doing. */
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

  /** Its file store, as its process accesses it. */
  get files(): FileStore {
    return passing(this.store, this.process);
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

/** The store as a process accesses it. Calls of a process that dies never settle. */
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
