/** A device of the simulation that keeps the notes it may read, and waits for their files. Hints and answers may be lost. */
import { filesIn } from '../../../codec/file-names.ts';
import { coll } from '../../../engine/testing/engine-world.ts';
import { FileWaiters, RECHECK_MS } from '../../device/files/file-waiters.ts';
import { Signal } from '../../device/syncer/signal.ts';
import { RefusedByHub } from '../../device/syncer/transport.ts';
import type { FileName, FilePlace } from '../../protocol/files.ts';
import { isSyncRefusal } from '../../protocol/refusals.ts';
import { accepted, wire, type Device, type HubWorld } from '../hub-world.ts';
import type { Chance, Clockwork } from '../simulation/clockwork.ts';
import type { Process } from '../simulation/processes.ts';

const NOTES = { documents: coll('notes') };
/** Time until a device notices that its connection is dead. */
const SILENCE_MS = 35_000;
const RETRY_MS = 5_000;

export interface WaitingHost {
  readonly world: HubWorld;
  readonly clockwork: Clockwork;
  readonly chance: Chance;
  readonly count: (what: string) => void;
  /** Present probability that a message is lost. */
  readonly loss: () => number;
  /** Called when a document was sent to the device. */
  readonly onDocument: (id: string) => Promise<void>;
  readonly fetch: (place: FilePlace) => Promise<void>;
  /** Called when a wait has ended because the device asked again after `RECHECK_MS`, without having learned of the file. */
  readonly onUnheard: (place: FilePlace) => void;
  /** Planted fault: hints that arrive during a request are ignored. */
  readonly isDeafWhileAsking: boolean;
}

/** Belongs to one process: its waits end with the process. */
export class WaitingDevice {
  readonly waiting = new Map<FileName, FilePlace>();
  private readonly waits: FileWaiters;
  /** Signals of waits whose latest request was made only because `RECHECK_MS` had passed. */
  private readonly unheard = new WeakSet<Signal>();
  private readonly device: Device;
  private readonly process: Process;
  private readonly host: WaitingHost;
  private mustPull = false;
  private isPulling = false;

  constructor(device: Device, process: Process, host: WaitingHost) {
    this.device = device;
    this.process = process;
    this.host = host;
    this.waits = new FileWaiters((ms, signal) => this.pause(ms, signal));
  }

  /** Listens for hints, and pulls. */
  async begin(): Promise<void> {
    const { device, process, host } = this;
    if (device.sets.length === 0) device.watch(NOTES);
    const line = await host.world.sync.subscribe(device.secret, device.id, () => {
      if (isSyncRefusal(line)) return;
      if (process.isAlive) this.hear();
      else line.close();
    });
    void this.pull();
  }

  /** Waits for the file of a random note that is kept here. */
  waitForSome(): void {
    const notes = [...this.device.documents].flatMap(([name, stored]) => {
      const [file] = filesIn(stored);
      return file && !this.waiting.has(file) ? [{ file, id: name.split('/')[1] ?? '' }] : [];
    });
    if (notes.length === 0) return;
    const { file, id } = this.host.chance.pick(notes);
    void this.waitFor({ file, home: ['notes', id] });
  }

  private async waitFor(place: FilePlace): Promise<void> {
    const { host, waits } = this;
    const { file } = place;
    this.waiting.set(file, place);
    host.count('wait begun');
    let asked = 0;
    const woken = new Signal();
    const ask = async (): Promise<void> => {
      asked += 1;
      try {
        await host.fetch(place);
      } finally {
        if (host.isDeafWhileAsking) woken.lower();
      }
    };
    try {
      await waits.until({ file, woken, ask, pauseAfter });
      host.count(asked > 1 ? 'file came after a wait' : 'file was there');
      if (this.unheard.has(woken)) host.onUnheard(place);
    } catch {
      host.count('wait without a result');
    }
    this.waiting.delete(file);
  }

  private async pause(ms: number, signal: Signal): Promise<void> {
    await this.host.clockwork.wait(ms, signal);
    await this.process.pass();
    if (ms === RECHECK_MS && !signal.isRaised) this.unheard.add(signal);
    else this.unheard.delete(signal);
  }

  private hear(): void {
    const { host } = this;
    if (!host.chance.is(host.loss())) {
      void this.pull();
      return;
    }
    host.count('hint lost');
    host.clockwork.after(host.chance.next() * SILENCE_MS, () => void this.pull());
  }

  /** Every device pulls after a push. Until then it gets no hints. */
  async pull(): Promise<void> {
    this.mustPull = true;
    if (this.isPulling) return;
    this.isPulling = true;
    while (this.mustPull) {
      this.mustPull = false;
      if (!(await this.pullOnce())) this.mustPull = true;
    }
    this.isPulling = false;
  }

  /** False if there is more to pull, or no answer came. */
  private async pullOnce(): Promise<boolean> {
    const { device, process, host } = this;
    const { world, clockwork, chance } = host;
    await clockwork.sleep(chance.next() * 1000);
    await process.pass();
    if (chance.is(host.loss())) return false;
    const answer = await world.sync.pull(device.secret, wire(device.pullMessage()));
    await process.pass();
    if (chance.is(host.loss())) return false;
    const pulled = accepted(answer);
    device.take(pulled);
    for (const [, id] of pulled.puts) await host.onDocument(id);
    this.waits.wake(pulled.puts.flatMap(([, , stored]) => filesIn(stored)));
    return (
      !pulled.more && pulled.sets.every(({ loaded }) => loaded.every((at) => at === undefined))
    );
  }
}

function pauseAfter(reason: unknown): number | undefined {
  if (!(reason instanceof RefusedByHub)) return RETRY_MS;
  return reason.refusal.code === 'file_not_uploaded' ? RECHECK_MS : undefined;
}
