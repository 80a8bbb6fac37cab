/** A device of a simulation: its memory, its second outbox, its tabs, and a network that may do anything. */
import { createHash } from 'node:crypto';
import type { Engine } from '../../../engine/api.ts';
import { EngineWorld } from '../../../engine/testing/engine-world.ts';
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import type { Store } from '../../../store/port.ts';
import type { Replica, WriteRecord } from '../../device/api.ts';
import { createReplica } from '../../device/replica.ts';
import { Syncer, type SyncState } from '../../device/syncer.ts';
import type { Exchange, Transport } from '../../device/transport.ts';
import { ReplicaView } from '../../device/view.ts';
import { isSyncRefusal, type SyncHub } from '../../hub/sync-hub.ts';
import { SYNC_PROTOCOL } from '../../protocol.ts';
import type {
  Checked,
  DeviceId,
  Pulled,
  Pushed,
  PushItem,
  SyncRefusal,
  Welcome,
} from '../../protocol.ts';
import type { Chance, Clockwork } from './clockwork.ts';
import { Process, processStore } from './processes.ts';
import { START_MICROS, userRef, type SimHub } from './sim-hub.ts';

const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(bytes).digest());

export interface NetworkFaults {
  loss: number;
  duplication: number;
  delayMs: number;
}

export interface SimDeviceOptions {
  readonly user: number;
  readonly hub: SimHub;
  readonly chance: Chance;
  readonly clockwork: Clockwork;
  readonly network: NetworkFaults;
  readonly count: (what: string) => void;
  readonly onVerdict: (record: WriteRecord) => void;
  readonly onFault: (reason: unknown) => void;
}

interface Tab {
  readonly process: Process;
  readonly engine: Engine;
  readonly replica: Replica;
  syncer: Syncer | undefined;
}

export class SimDevice {
  memory = new SharedMemory();
  /** The file outside the database. */
  file: { readonly device: DeviceId; readonly item: PushItem }[] = [];
  secret: string;
  isLinkUp = true;
  clockOffsetMs = 0;
  state: SyncState = 'connecting';
  readonly tabs: Tab[] = [];
  private readonly options: SimDeviceOptions;
  private booting: Tab | undefined = undefined;

  constructor(options: SimDeviceOptions, secret: string) {
    this.options = options;
    this.secret = secret;
  }

  get user(): number {
    return this.options.user;
  }

  get sets(): readonly unknown[] {
    const me = userRef(this.user);
    return [
      { documents: { collection: 'accounts' } },
      {
        union: [
          { match: { index: 'notes_by_owner' }, terms: me },
          { match: { index: 'shared_notes' }, terms: true },
        ],
      },
      { documents: { collection: 'marks' } },
    ];
  }

  /** Opens a tab; the first of them leads. */
  openTab(): void {
    const { clockwork, chance, count } = this.options;
    const process = new Process((where) => {
      count(`tab dies ${where}`);
      const at = this.tabs.findIndex((tab) => tab.process === process);
      const [tab] = at < 0 ? [] : this.tabs.splice(at, 1);
      void tab?.syncer?.stop();
    });
    const { engine, replica } = this.open(
      processStore(this.memory, process, { chance, clockwork }),
    );
    const tab: Tab = { process, engine, replica, syncer: undefined };
    this.tabs.push(tab);
    // A frozen tab that thaws has heard of nothing.
    engine.onCommit((notice) => {
      for (const other of this.tabs) if (other !== tab) other.engine.noteCommit(notice);
    });
  }

  /** What is stored, without any process in between. */
  direct(): { readonly engine: Engine; readonly replica: Replica } {
    return this.open(createMemoryStore(this.memory));
  }

  /** Makes a tab lead; others may believe that they do too. */
  async lead(tab: Tab): Promise<void> {
    if (tab.syncer || this.booting?.process.isAlive) return;
    const { clockwork, chance } = this.options;
    this.booting = tab;
    const isReady = await this.boot(tab).catch((reason: unknown) => {
      if (!(reason instanceof Lost)) this.options.onFault(reason);
      return false;
    });
    this.booting = undefined;
    if (!isReady || !tab.process.isAlive) return;
    tab.syncer = new Syncer({
      replica: tab.replica,
      transport: this.transport(tab.process),
      clock: this.clock,
      wallClock: () => clockwork.now,
      chance: () => chance.next(),
      wait: (ms, signal) => clockwork.wait(ms, signal),
      events: {
        onState: (state) => {
          this.state = state;
        },
        onVerdict: (record) => {
          this.options.onVerdict(record);
          void this.cutFile();
        },
        onProgress: () => undefined,
        onRound: () => undefined,
        onSuperseded: () => {
          this.options.count('syncer superseded');
          tab.syncer = undefined;
        },
        onFault: (reason) => {
          if (!(reason instanceof Lost)) this.options.onFault(reason);
        },
      },
    });
    tab.syncer.start();
  }

  /** Undefined: it was refused here, or the tab died. */
  async submit(tab: Tab, query: unknown): Promise<string | undefined> {
    const text = JSON.stringify(query);
    const done = await tab.replica.submit({ query: text, apiVersion: '4' });
    if ('failed' in done) {
      this.options.count(done.failed.body.includes('bad request') ? 'not ready' : 'failed here');
      return undefined;
    }
    this.file.push({ device: done.device, item: done.item });
    for (const each of this.tabs) each.syncer?.kick();
    return done.id;
  }

  private clock = (): number =>
    START_MICROS + Math.floor((this.options.clockwork.now + this.clockOffsetMs) * 1000);

  private open(store: Store): { readonly engine: Engine; readonly replica: Replica } {
    const { chance } = this.options;
    const view = new ReplicaView();
    const random = (count: number) => chance.bytes(count);
    const { clock } = this;
    const { engine } = new EngineWorld(store, { view, clock, random });
    return { engine, replica: createReplica({ engine, view, clock, random, sha256 }) };
  }

  /** As a page does before it starts a syncer. */
  private async boot(tab: Tab): Promise<boolean> {
    const { replica } = tab;
    if (!(await replica.state())) {
      const fresh = Array.from(this.options.chance.bytes(16), (byte) =>
        byte.toString(16).padStart(2, '0'),
      ).join('');
      const last = this.file.at(-1);
      const device = last?.device ?? fresh;
      const lastSeq = last?.item.seq ?? 0;
      const hello = { protocol: SYNC_PROTOCOL, device, epoch: undefined, lastSeq };
      const answer = await this.transport(tab.process).hello(hello);
      if (!answer.ok) return false;
      await replica.adopt('hub', answer.value.actor, answer.value.epoch, device);
    }
    const state = await replica.state();
    const kept = this.file.filter(({ device }) => device === state?.device);
    if (state)
      await replica.restore(
        state.device,
        kept.map(({ item }) => item),
      );
    await replica.setSets(
      this.sets.map((set, i) => ({ id: String(i), query: JSON.stringify(set) })),
    );
    return true;
  }

  private async cutFile(): Promise<void> {
    const state = await this.direct().replica.state();
    if (!state) return;
    this.file = this.file.filter(
      ({ device, item }) => device === state.device && item.seq > state.settledSeq,
    );
  }

  private transport(process: Process): Transport {
    const ask = <T extends object>(
      run: (hub: SyncHub) => Promise<T | SyncRefusal>,
    ): Promise<Exchange<T>> => process.living(this.exchange(run));
    return {
      hello: (message) => ask<Welcome>((hub) => hub.hello(this.secret, copy(message))),
      push: (message) => ask<Pushed>((hub) => hub.push(this.secret, copy(message))),
      pull: (message) => ask<Pulled>((hub) => hub.pull(this.secret, copy(message))),
      check: (message) => ask<Checked>((hub) => hub.check(this.secret, copy(message))),
      listen: (device, { onPoke, onEnd }) => {
        let stop = (): void => undefined;
        let isOver = false;
        const { running } = this.options.hub;
        void running?.sync
          .subscribe(this.secret, device, (poke) => {
            if (this.isLinkUp && process.isAlive && running.process.isAlive) onPoke(poke);
          })
          .then((subscription) => {
            if (isSyncRefusal(subscription)) onEnd();
            else if (isOver) subscription.close();
            else stop = () => subscription.close();
          });
        return () => {
          isOver = true;
          stop();
        };
      },
    };
  }

  /** There and back; each way may fail, and what fails after the hub did its work looks the same here. */
  private async exchange<T extends object>(
    run: (hub: SyncHub) => Promise<T | SyncRefusal>,
  ): Promise<Exchange<T>> {
    const { clockwork, chance, network, hub, count } = this.options;
    await clockwork.sleep(chance.next() * network.delayMs);
    const { running } = hub;
    if (!this.isLinkUp || !running || chance.is(network.loss)) {
      count('request lost');
      await clockwork.sleep(1000);
      throw new Lost('the request was lost');
    }
    if (chance.is(network.duplication)) {
      count('request duplicated');
      clockwork.after(chance.next() * 5000, () => {
        const later = hub.running;
        if (later) void run(later.sync).catch(() => undefined);
      });
    }
    const answered = run(running.sync);
    const timeout = clockwork.sleep(10_000).then(() => 'timeout' as const);
    const answer = await Promise.race([answered, timeout]);
    if (answer === 'timeout' || !this.isLinkUp || chance.is(network.loss)) {
      count('answer lost');
      throw new Lost('the answer was lost');
    }
    await clockwork.sleep(chance.next() * network.delayMs);
    const value = copy(answer);
    return isSyncRefusal(value) ? { ok: false, refusal: value } : { ok: true, value: value as T };
  }
}

class Lost extends Error {}

/** As JSON has it. */
const copy = <T>(message: T): T => JSON.parse(JSON.stringify(message)) as T;
