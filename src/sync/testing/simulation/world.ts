/** All there is in one simulation, and what it remembers of itself. */
import type { WriteRecord } from '../../device/state/outbox-record.ts';
import { Chance, Clockwork } from './clockwork.ts';
import { memoryDisk, type Disk } from './disk.ts';
import type { Mutant } from './mutants.ts';
import { SimDevice, type WantedSet } from './sim-device.ts';
import { SimHub, type HubCopy } from './sim-hub.ts';
import { PASSWORD } from './sim-schema.ts';
import type { NetworkFaults } from './sim-network.ts';

export interface WorldOptions {
  readonly mutant?: Mutant;
  /** Keeps a log of what happens. */
  readonly tells?: boolean;
  /** Of each device; absent: memory. */
  readonly diskIn?: (world: World) => Disk;
}

/** A write that was acknowledged to the app. */
export interface Accepted {
  readonly mark: string;
  readonly device: SimDevice;
  readonly id: string;
}

/** How a disk stood. */
type Snapshot = Pick<SimDevice, 'isSpoilt' | 'disk'>;

export class World {
  readonly problems: string[] = [];
  readonly counts = new Map<string, number>();
  readonly story: string[] = [];
  readonly chance: Chance;
  readonly clockwork: Clockwork;
  readonly hub: SimHub;
  readonly network: NetworkFaults = {
    loss: 0,
    duplication: 0,
    delayMs: 30,
    lateness: 0,
    isSilent: false,
  };
  readonly devices: SimDevice[] = [];
  readonly accepted: Accepted[] = [];
  /** Verdicts that were told, by mark. */
  readonly verdicts = new Map<string, string>();
  /** Marks that their device has lost what it knew of, with all it had. */
  readonly forgotten = new Set<string>();
  /** Marks that nobody can be asked to have: their device forgot them, or was told of them by a hub that has. */
  readonly lost = new Set<string>();
  /** Marks the app has done with: refused ones that were discarded or tried again. */
  readonly resolved = new Set<string>();
  readonly copies: HubCopy[] = [];
  readonly snapshots = new Map<SimDevice, Snapshot>();
  /** Secrets that no message and no device may hold. */
  readonly secrets = new Set<string>([PASSWORD]);
  marks = 0;
  /** No disk fails. */
  isCalm = true;
  private readonly mutant: Mutant | undefined;
  private readonly tells: boolean;
  private readonly diskIn: (world: World) => Disk;

  constructor(seed: number, { mutant, tells = false, diskIn = () => memoryDisk() }: WorldOptions) {
    this.diskIn = diskIn;
    this.mutant = mutant;
    this.tells = tells;
    this.chance = new Chance(seed);
    this.clockwork = new Clockwork(this.chance);
    const { chance, clockwork } = this;
    this.hub = new SimHub({
      chance,
      clockwork,
      mutant,
      count: (what) => this.count(what),
      onDeath: (where) => {
        this.count(`hub dies: ${where}`);
        clockwork.after(chance.next() * 5000, () => {
          if (!this.hub.running) void this.hub.start();
        });
      },
    });
  }

  emptyDisk(): Disk {
    return this.diskIn(this);
  }

  addDevice(
    user: number,
    secret: string,
    wanted: readonly WantedSet[],
    disk = this.emptyDisk(),
  ): SimDevice {
    const name = `device ${this.devices.length} of user ${user}`;
    const device: SimDevice = new SimDevice(
      {
        name,
        user,
        hub: this.hub,
        chance: this.chance,
        clockwork: this.clockwork,
        network: this.network,
        mutant: this.mutant,
        count: (what) => this.count(what),
        tell: (what) => this.tell(() => `${name}: ${what()}`),
        onVerdict: (record) => this.noteVerdict(record),
        onFault: (reason) => this.problems.push(`fault: ${said(reason)}`),
        onMessage: (text) => this.checkText('a message', text),
      },
      disk,
      secret,
      wanted,
    );
    this.secrets.add(secret);
    this.devices.push(device);
    return device;
  }

  /** I7: what is secret is in nothing that is sent or stored. */
  checkText(where: string, text: string): void {
    for (const secret of this.secrets)
      if (text.includes(secret)) this.problems.push(`I7: ${where} has a secret: ${text}`);
    if (text.includes('hashed_')) this.problems.push(`I7: ${where} has a hash: ${text}`);
  }

  /** The device is not what it was: what it did until now it may know nothing of. */
  noteLoss(device: SimDevice): void {
    device.losses += 1;
    for (const { mark, device: of } of this.accepted) if (of === device) this.forgotten.add(mark);
  }

  count(what: string): void {
    this.tell(() => what);
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Nothing is put into words that nobody reads. */
  tell(what: () => string): void {
    if (this.tells) this.story.push(`${this.clockwork.now.toFixed(0)} ms: ${what()}`);
  }

  private noteVerdict({ id, item, state, verdict }: WriteRecord): void {
    const mark = markOf(item.query);
    if (mark !== undefined) this.verdicts.set(mark, state);
    this.count(`verdict ${state}`);
    this.tell(() => `${id} ${mark ?? ''} ${verdict?.body?.slice(0, 200) ?? ''}`);
  }
}

/** The mark that a write makes. */
export const markOf = (query: string): string | undefined => /"(m\d+)"/.exec(query)?.[1];

export const said = (reason: unknown): string =>
  reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
