/** The hub of a simulation: processes over one memory, the changes of an administrator, and earlier states. */
import { hexOfBytes } from '../../../codec/hex.ts';
import { sha256 } from '../../../engine/testing/sha256.ts';
import { EngineWorld, ROOT } from '../../../engine/testing/engine-world.ts';
import { headOf, HEAD } from '../../../engine/transactions.ts';
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import type { Store } from '../../../store/port.ts';
import { EPOCH, prepareEpoch } from '../../hub/rows/epoch.ts';
import { prepareIdKey } from '../../hub/rows/id-key.ts';
import { SyncHub } from '../../hub/sync-hub.ts';
import type { Chance, Clockwork } from './clockwork.ts';
import { mutantHub, mutantHubStore } from './hub-mutants.ts';
import type { Mutant } from './mutants.ts';
import { Process, processStore } from './processes.ts';
import { firstRules, type Rules } from './sim-schema.ts';

export const START_MICROS = 1_767_225_600_000_000;

export type Version = SharedMemory['version'];

export interface SimHubOptions {
  readonly chance: Chance;
  readonly clockwork: Clockwork;
  readonly mutant: Mutant | undefined;
  readonly count: (what: string) => void;
  readonly onDeath: (where: string) => void;
}

interface Running {
  readonly process: Process;
  /** The engine of the process. Its commits reach the sync. */
  readonly world: EngineWorld;
  readonly sync: SyncHub;
}

export interface HubCopy {
  readonly version: Version;
  readonly rules: Rules;
}

export class SimHub {
  memory = new SharedMemory();
  running: Running | undefined = undefined;
  /** A second process over the same memory. Requests go to either of them. */
  beside: Running | undefined = undefined;
  rules = firstRules();
  /** Until this time, the hub answers that it is overloaded. */
  busyUntil = 0;
  private readonly options: SimHubOptions;
  private administrator: EngineWorld | undefined = undefined;
  /** States after each commit, by epoch and time. */
  private readonly past = new Map<string, Version>();
  private noted: Version[] = [];

  constructor(options: SimHubOptions) {
    this.options = options;
  }

  readonly clock = (): number => START_MICROS + Math.floor(this.options.clockwork.now * 1000);

  /** Starts a process. */
  async start(): Promise<void> {
    const { chance } = this.options;
    const { memory } = this;
    await prepareEpoch(createMemoryStore(memory), (count) => chance.bytes(count));
    await prepareIdKey(createMemoryStore(memory), (count) => new Uint8Array(count).fill(7));
    this.running = this.run(() => (this.running = undefined));
  }

  startBeside(): void {
    this.beside = this.run(() => (this.beside = undefined));
  }

  /** The process that gets the next request. */
  get asked(): Running | undefined {
    const { running, beside } = this;
    return beside && running ? this.options.chance.pick([running, beside]) : running;
  }

  /** @param forget called when the process dies */
  private run(forget: () => void): Running {
    const { chance, mutant, onDeath } = this.options;
    const { memory } = this;
    const process = new Process(this.options.clockwork, (where) => {
      forget();
      onDeath(where);
    });
    const onWritten = () => this.note(memory);
    const stored = createMemoryStore(memory);
    const store = processStore(stored, { ...this.options, process, onWritten });
    const world = this.world(mutantHubStore(mutant, store, { memory, process, ...this.options }));
    const random = (count: number) => chance.bytes(count);
    const sync = new SyncHub({
      engine: world.engine,
      clock: this.clock,
      random,
      sha256,
      rootSecret: ROOT,
    });
    return { process, world, sync: mutantHub(mutant, sync, this) };
  }

  /** Accesses the stored data directly, so nothing can fail. */
  admin(): EngineWorld {
    const { memory } = this;
    const direct = createMemoryStore(memory);
    const store: Store = {
      ...direct,
      write: async (body, options) => {
        const value = await direct.write(body, options);
        this.note(memory);
        return value;
      },
    };
    return (this.administrator ??= this.world(store));
  }

  copy(): HubCopy {
    return { version: this.memory.version, rules: { ...this.rules } };
  }

  /** Restores an earlier state, as from a backup. */
  async restore({ version, rules }: HubCopy): Promise<void> {
    this.running?.process.kill('restore');
    this.beside?.process.kill('restore');
    this.administrator = undefined;
    this.rules = { ...rules };
    this.memory = new SharedMemory();
    this.memory.version = version;
    const value = hexOfBytes(this.options.chance.bytes(16));
    await createMemoryStore(this.memory).write(
      async (tx) => {
        const row = { key: EPOCH.key, entries: [], value };
        tx.apply({ puts: [{ space: EPOCH.space, row }], deletes: [] });
      },
      { durability: 'relaxed' },
    );
    this.note(this.memory);
    await this.start();
  }

  get epoch(): string {
    return epochOf(this.memory.version);
  }

  get head(): number {
    return headOf(this.memory.version.meta.keys.get(HEAD.key, HEAD.key)?.row);
  }

  /** The state after a commit. Undefined if there was no commit at this time. */
  stateAt(epoch: string, ts: number): Version | undefined {
    for (const version of this.noted) {
      const row = version.meta.keys.get(HEAD.key, HEAD.key)?.row;
      this.past.set(`${epochOf(version)} ${headOf(row)}`, version);
    }
    this.noted = [];
    return this.past.get(`${epoch} ${ts}`);
  }

  private note({ version }: SharedMemory): void {
    this.noted.push(version);
  }

  private world(store: Store): EngineWorld {
    const { chance } = this.options;
    return new EngineWorld(store, {
      logsChanges: true,
      clock: this.clock,
      random: (count) => chance.bytes(count),
    });
  }
}

const epochOf = (version: Version): string =>
  String(version.meta.keys.get(EPOCH.key, EPOCH.key)?.row?.value);
