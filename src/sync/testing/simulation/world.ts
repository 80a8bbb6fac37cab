/** Everything in one simulation, and its records. */
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
  /** Records all events. */
  readonly tells?: boolean;
  /** Makes the disk of each device. If absent, it is in memory. */
  readonly diskIn?: (world: World) => Disk;
}

/** A write that was acknowledged to the app. */
export interface Accepted {
  readonly mark: string;
  readonly device: SimDevice;
  readonly id: string;
}

/** An earlier state of a disk. */
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
  /** Verdicts that devices have received, by mark. */
  readonly verdicts = new Map<string, string>();
  /** Marks of writes that their device has lost together with its data. */
  readonly forgotten = new Set<string>();
  /** Marks that may be missing at the end, because both the hub and the device have lost the write. */
  readonly lost = new Set<string>();
  /** Marks that the app has dealt with: refused writes that it discarded or submitted again. */
  readonly resolved = new Set<string>();
  readonly copies: HubCopy[] = [];
  readonly snapshots = new Map<SimDevice, Snapshot>();
  /** Secrets that must not be in any message, or on any device. */
  readonly secrets = new Set<string>([PASSWORD]);
  marks = 0;
  /** Disks do not fail. */
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

  /** I7: no message and no stored text contains a secret. */
  checkText(where: string, text: string): void {
    for (const secret of this.secrets)
      if (text.includes(secret)) this.problems.push(`I7: ${where} has a secret: ${text}`);
    if (text.includes('hashed_')) this.problems.push(`I7: ${where} has a hash: ${text}`);
  }

  /** The device has lost its data or was set back, so it may not know its earlier writes. */
  noteLoss(device: SimDevice): void {
    device.losses += 1;
    for (const { mark, device: of } of this.accepted) if (of === device) this.forgotten.add(mark);
  }

  count(what: string): void {
    this.tell(() => what);
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Calls `what` only if events are recorded. */
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

/** The mark in the query of a write. */
export const markOf = (query: string): string | undefined => /"(m\d+)"/.exec(query)?.[1];

export const said = (reason: unknown): string =>
  reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
