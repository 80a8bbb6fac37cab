/** A device of a simulation: its disk, the copy of its outbox, its tabs, and what may happen to them. */
import { hexOfBytes } from '../../../codec/hex.ts';
import { sha256 } from '../../../engine/testing/sha256.ts';
import type { Engine } from '../../../engine/engine.ts';
import { EngineWorld } from '../../../engine/testing/engine-world.ts';
import type { SharedMemory } from '../../../store/memory.ts';
import type { Store } from '../../../store/port.ts';
import type { ReplicaState } from '../../device/state/replica-state.ts';
import type { OutboxRecord, WriteRecord } from '../../device/state/outbox-record.ts';
import { readOutboxRow } from '../../device/state/outbox-row.ts';
import { outboxRange } from '../../device/state/outbox-rows.ts';
import { readState, STATE } from '../../device/state/state-row.ts';
import { Replica } from '../../device/replica/replica.ts';
import type { SyncState } from '../../../states.ts';
import { Syncer } from '../../device/syncer/syncer.ts';
import type { Transport } from '../../device/syncer/transport.ts';
import { ReplicaView } from '../../device/view/replica-view.ts';
import { SYNC_PROTOCOL } from '../../protocol/messages.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { PushItem } from '../../protocol/writes.ts';
import { instrumented, type Buggify } from './instrumented.ts';
import type { Disk } from './disk.ts';
import { mutantDeviceStore, mutantReplica, mutantTransport } from './device-mutants.ts';
import type { Mutant } from './mutants.ts';
import { Process, processStore, StoreTrouble } from './processes.ts';
import { START_MICROS } from './sim-hub.ts';
import { Lost, transportOver, type Link, type NetworkOptions } from './sim-network.ts';

export interface SimDeviceOptions extends NetworkOptions {
  readonly name: string;
  readonly user: number;
  readonly mutant: Mutant | undefined;
  readonly onVerdict: (record: WriteRecord) => void;
  readonly onFault: (reason: unknown) => void;
}

export interface Tab {
  readonly process: Process;
  readonly engine: Engine;
  readonly replica: Replica;
  syncer: Syncer | undefined;
}

export interface WantedSet {
  readonly id: string;
  readonly query: unknown;
}

export class SimDevice implements Link {
  disk: Disk;
  /** The copy of the outbox outside of the database. */
  file: { readonly device: DeviceId; readonly item: PushItem }[] = [];
  secret: string;
  isUp = true;
  losesHints = false;
  clockOffsetMs = 0;
  state: SyncState = 'connecting';
  wanted: readonly WantedSet[];
  readonly tabs: Tab[] = [];
  readonly buggify: Buggify = { pullBytes: undefined, pushItems: undefined };
  /** A row was changed by the nemesis, and there was no comparison since. */
  isSpoilt = false;
  /** Head of the hub at the latest comparison. While the cursor is before it, the documents may differ from those at the cursor. */
  comparedAt = 0;
  /** How often its disk was lost or set back. */
  losses = 0;
  /** When the latest complete round began. */
  roundAt = -1;
  private readonly options: SimDeviceOptions;
  private booting: Tab | undefined = undefined;
  private viewer: { readonly disk: Disk; readonly tab: Opened } | undefined = undefined;
  private readonly records = new Map<
    string,
    { readonly value: string; readonly of: OutboxRecord }
  >();

  constructor(options: SimDeviceOptions, disk: Disk, secret: string, wanted: readonly WantedSet[]) {
    this.options = options;
    this.disk = disk;
    this.secret = secret;
    this.wanted = wanted;
  }

  get memory(): SharedMemory {
    return this.disk.memory;
  }

  get name(): string {
    return this.options.name;
  }

  get user(): number {
    return this.options.user;
  }

  /** Whether it may have rows that differ from the hub's, because a comparison is due. */
  get isSuspect(): boolean {
    return this.isSpoilt || this.stored()?.suspectSince !== undefined;
  }

  /** Notes that a comparison was made. Another one may be due. */
  noteCompared(): void {
    this.isSpoilt &&= this.stored()?.suspectSince !== undefined;
    this.comparedAt = this.options.hub.head;
  }

  /** Opens a tab. The first tab leads. */
  openTab(): Tab {
    const { clockwork, count, mutant } = this.options;
    const process = new Process(clockwork, (where) => {
      count(`tab dies: ${where}`);
      const at = this.tabs.findIndex((tab) => tab.process === process);
      const [tab] = at < 0 ? [] : this.tabs.splice(at, 1);
      void tab?.syncer?.stop();
    });
    const { disk, memory } = this;
    // A process that stores the end of a comparison may die before it learns that the commit succeeded.
    const onWritten = () => {
      if (memory === this.memory && process.isDoing('compared')) this.noteCompared();
    };
    const store = processStore(disk.storeOf(process), { ...this.options, process, onWritten });
    const place = { ...this.options, memory, process };
    const opened = this.open(mutantDeviceStore(mutant, store, place));
    const whole = mutantReplica(mutant, opened.replica, { memory });
    const tab: Tab = {
      process,
      engine: opened.engine,
      replica: instrumented(whole, process, this),
      syncer: undefined,
    };
    this.tabs.push(tab);
    // A frozen tab has missed these notices when it thaws.
    opened.engine.onCommit((notice) => {
      for (const other of this.tabs) if (other !== tab) other.engine.applyCommit(notice);
    });
    return tab;
  }

  /** Accesses the stored data without a process. */
  direct(): Opened {
    if (this.viewer?.disk !== this.disk)
      this.viewer = { disk: this.disk, tab: this.open(this.disk.direct()) };
    return this.viewer.tab;
  }

  /** The state as it is stored at this moment. */
  stored(): ReplicaState | undefined {
    return readState(this.memory.version.sync.keys.get(STATE.key, STATE.key)?.row);
  }

  /** The outbox as it is stored at this moment. */
  outbox(): readonly OutboxRecord[] {
    const found = this.memory.version.sync.keys.within(outboxRange());
    return found.flatMap(({ key, row }) => {
      if (!row) return [];
      const value = String(row.value);
      const known = this.records.get(key);
      if (known?.value === value) return known.of;
      const of = readOutboxRow(row);
      this.records.set(key, { value, of });
      return of;
    });
  }

  /** Makes a tab lead. Other tabs may believe that they lead, too. */
  async lead(tab: Tab): Promise<void> {
    if (tab.syncer || this.booting?.process.isAlive) return;
    this.booting = tab;
    const isReady = await this.boot(tab).catch((reason: unknown) => {
      this.blame(reason);
      return false;
    });
    if (this.booting === tab) this.booting = undefined;
    if (!isReady || !tab.process.isAlive) return;
    tab.syncer = this.syncerOf(tab);
    tab.syncer.start();
  }

  kick(): void {
    for (const { syncer } of this.tabs) syncer?.kick();
  }

  killTabs(): void {
    while (this.tabs.length > 0) this.tabs[0]?.process.kill('with its browser');
  }

  /** Undefined if the write failed here, or the tab died. */
  async submit(tab: Tab, query: unknown, replaces?: string): Promise<string | undefined> {
    const text = JSON.stringify(query);
    const request = { query: text, apiVersion: '4', ...(replaces && { replaces }) } as const;
    const done = await tab.replica.submit(request);
    if ('failed' in done) {
      this.options.count('write failed here');
      return undefined;
    }
    this.file.push({ device: done.device, item: done.item });
    this.kick();
    return done.id;
  }

  private syncerOf(tab: Tab): Syncer {
    const { clockwork, chance, onVerdict, count, mutant } = this.options;
    const { replica, process } = tab;
    const whole = transportOver(this, process, this.options);
    const transport: Transport = {
      ...whole,
      pull: (pull) => whole.pull({ ...pull, maxBytes: this.buggify.pullBytes ?? pull.maxBytes }),
    };
    return new Syncer({
      replica,
      transport: mutantTransport(mutant, transport, replica),
      clock: this.clock,
      wallClock: () => clockwork.now,
      random: () => chance.next(),
      ...(mutant === 'devices never poll' && { pollMs: NEVER }),
      wait: async (ms, signal) => {
        await clockwork.wait(ms, signal);
        await process.pass();
      },
      events: {
        onState: (state, reason) => {
          this.state = state;
          this.options.tell(() => `is ${state} ${reason?.code ?? ''}`);
        },
        onVerdict: (record) => {
          onVerdict(record);
          this.cutFile();
        },
        onFiles: () => undefined,
        onProgress: () => undefined,
        onRound: (since, _, isWhole) => {
          if (isWhole) this.roundAt = since;
        },
        onSuperseded: () => {
          count('syncer superseded');
          tab.syncer = undefined;
        },
        onFault: (reason) => this.blame(reason),
      },
    });
  }

  private blame(reason: unknown): void {
    const isExpected =
      reason instanceof Lost || reason instanceof StoreTrouble || isRefusal(reason);
    if (!isExpected) this.options.onFault(reason);
  }

  readonly clock = (): number =>
    START_MICROS + Math.floor((this.options.clockwork.now + this.clockOffsetMs) * 1000);

  private open(store: Store): Opened {
    const { chance } = this.options;
    const view = new ReplicaView();
    const random = (count: number) => chance.bytes(count);
    const { clock } = this;
    const { engine } = new EngineWorld(store, { view, clock, random });
    return { engine, replica: new Replica({ engine, view, clock, random, sha256 }) };
  }

  /** Opens the copy as a page does before it starts a syncer. */
  private async boot({ replica, process }: Tab): Promise<boolean> {
    if (!(await replica.state())) {
      const fresh = hexOfBytes(this.options.chance.bytes(16));
      const last = this.file.at(-1);
      const transport = transportOver(this, process, this.options);
      const ask = (device: DeviceId, lastSeq: number) =>
        transport.hello({ protocol: SYNC_PROTOCOL, device, epoch: undefined, lastSeq });
      let device = last?.device ?? fresh;
      let answer = await ask(device, last?.item.seq ?? 0);
      // The hub knows later writes than the outbox copy has.
      if (!answer.ok && answer.refusal.code === 'client_regressed')
        answer = await ask((device = fresh), 0);
      if (!answer.ok) return false;
      await replica.adopt('hub', answer.value, device);
    }
    const state = await replica.state();
    const kept = this.file.filter(({ device }) => device === state?.device);
    if (state) await replica.recover(state.device, kept);
    await this.putSets(replica);
    return true;
  }

  async putSets(replica: Replica): Promise<void> {
    await replica.setSets(this.wantedSets());
  }

  /** False if a frozen tab has not stored the sets yet, or its store has failed. */
  get hasPutSets(): boolean {
    const stored = this.stored()?.sets.map(({ id, query }) => ({ id, query }));
    return JSON.stringify(stored) === JSON.stringify(this.wantedSets());
  }

  private wantedSets() {
    return this.wanted.map(({ id, query }) => ({ id, query: JSON.stringify(query) }));
  }

  private cutFile(): void {
    const state = this.stored();
    if (!state) return;
    this.file = this.file.filter(
      ({ device, item }) => device === state.device && item.seq > state.settledSeq,
    );
  }
}

const NEVER = { listening: Infinity, notListening: 10_000 };

/** Refusals that a hub may send while another problem is being repaired. The next request is hello. */
const isRefusal = (reason: unknown): boolean =>
  typeof reason === 'object' && reason !== null && 'refusal' in reason;

interface Opened {
  readonly engine: Engine;
  readonly replica: Replica;
}
