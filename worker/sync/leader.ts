/** What the tab does that leads: it speaks to the hub for all of them. */
import type { Welcome } from '../../src/sync/protocol/messages.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import type { Signal } from '../../src/sync/device/syncer/signal.ts';
import type { SyncerEvents } from '../../src/sync/device/syncer/syncer-options.ts';
import { Syncer } from '../../src/sync/device/syncer/syncer.ts';
import { RetryLater, type Transport } from '../../src/sync/device/syncer/transport.ts';
import { random } from '../browser/random.ts';
import { createHttpTransport } from './http-transport.ts';

export interface LeaderOptions {
  readonly replica: Replica;
  readonly clock: () => number;
  readonly report: (reason: unknown) => void;
  /** Of the hub, when it is asked. */
  readonly url: () => string;
  readonly token: () => string | undefined;
  /** The hub has let this device in; it goes on when that has been taken note of. */
  readonly onWelcome: (welcome: Welcome) => Promise<void>;
  readonly events: Omit<SyncerEvents, 'onFault'>;
}

/** Confirmed writes are kept for so long, µs: a hub that is restored from an older copy is offered them again. */
const WRITES_KEPT = 7 * 86_400 * 1_000_000;
const EXCHANGE_MS = 30_000;

export class Leader {
  private readonly options: LeaderOptions;
  private readonly network = new EventTarget();
  private exchanges = new AbortController();
  private syncer: Syncer | undefined = undefined;

  constructor(options: LeaderOptions) {
    this.options = options;
  }

  get leads(): boolean {
    return this.syncer !== undefined;
  }

  begin(): void {
    const { replica, clock, report, events } = this.options;
    this.exchanges = new AbortController();
    replica.prune(clock() - WRITES_KEPT).catch(report);
    this.syncer = new Syncer({
      replica,
      transport: this.transport(),
      clock,
      wallClock: () => Date.now(),
      random: () => ((random(1)[0] ?? 0) + 0.5) / 256,
      wait,
      events: {
        ...events,
        onFault: (reason) => {
          if (!isOfTheNetwork(reason)) report(reason);
        },
      },
    });
    this.syncer.start();
  }

  /** What is under way is given up: how it ended is found out by who leads next. */
  async end(): Promise<void> {
    const { syncer } = this;
    this.syncer = undefined;
    const stopped = syncer?.stop();
    this.exchanges.abort();
    await stopped;
  }

  kick(): void {
    this.syncer?.kick();
  }

  /** A line does not notice for long that the network is gone. */
  noteOffline(): void {
    this.network.dispatchEvent(new Event('offline'));
  }

  private transport(): Transport {
    const { url, token, onWelcome } = this.options;
    const transport = createHttpTransport({
      url: url(),
      signal: this.exchanges.signal,
      token,
      fetch: (...call) => fetch(...call),
      lines: {
        connect: (address) => new WebSocket(address),
        whenOffline: (end) => {
          this.network.addEventListener('offline', end);
          return () => this.network.removeEventListener('offline', end);
        },
      },
      deadlineMs: EXCHANGE_MS,
    });
    return {
      ...transport,
      hello: async (message) => {
        const answer = await transport.hello(message);
        if (answer.ok) await onWelcome(answer.value);
        return answer;
      },
    };
  }
}

const isOfTheNetwork = (reason: unknown): boolean =>
  reason instanceof TypeError || reason instanceof DOMException || reason instanceof RetryLater;

const wait = (ms: number, signal: Signal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = signal.onRaised(() => {
      clearTimeout(timer);
      resolve();
    });
  });
