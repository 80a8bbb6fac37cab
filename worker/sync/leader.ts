/** The work of the leading tab: it alone exchanges messages with the hub, for all tabs. */
import type { Welcome } from '../../src/sync/protocol/messages.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import type { SyncerEvents } from '../../src/sync/device/syncer/syncer-options.ts';
import { Syncer } from '../../src/sync/device/syncer/syncer.ts';
import { ForeignAnswer, type Transport } from '../../src/sync/device/syncer/transport.ts';
import { DAY_MICROS } from '../../src/values/time.ts';
import type { Network } from '../browser/network.ts';
import { random } from '../browser/random.ts';
import { wait } from '../browser/wait.ts';
import { explainedHello } from './explained-hello.ts';
import { createHttpTransport } from './http-transport.ts';
import { refusedOrigin } from './hub-queries.ts';

export interface LeaderOptions {
  readonly replica: Replica;
  readonly clock: () => number;
  readonly report: (reason: unknown) => void;
  /** URL of the hub. */
  readonly url: () => string;
  readonly network: Network;
  readonly token: () => string | undefined;
  /** See `HttpTransportOptions`. */
  readonly onRefused: (token: string | undefined) => void;
  /** Called when the hub has accepted this device. The hello resolves only after the promise. */
  readonly onWelcome: (welcome: Welcome) => Promise<void>;
  readonly events: Omit<SyncerEvents, 'onFault'>;
}

/** How long writes are kept after they were confirmed, in µs. They are sent again to a hub that was restored from an older backup. */
export const WRITES_KEPT = 7 * DAY_MICROS;
/** How often writes that need not be kept are removed, in ms. A tab may lead for months. */
const PRUNED_MS = 86_400_000;
const EXCHANGE_MS = 30_000;

export class Leader {
  private readonly options: LeaderOptions;
  /** Dispatches `offline` when the device goes offline. */
  private readonly offline = new EventTarget();
  private exchanges = new AbortController();
  private syncer: Syncer | undefined = undefined;
  private pruning: ReturnType<typeof setInterval> | undefined = undefined;

  constructor(options: LeaderOptions) {
    this.options = options;
  }

  get leads(): boolean {
    return this.syncer !== undefined;
  }

  begin(): void {
    const { replica, clock, report, events } = this.options;
    this.exchanges = new AbortController();
    const prune = () => void replica.prune(WRITES_KEPT).catch(report);
    prune();
    this.pruning = setInterval(prune, PRUNED_MS);
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

  /** Aborts requests in progress. The next leader finds out their outcome. */
  async end(): Promise<void> {
    const { syncer } = this;
    clearInterval(this.pruning);
    this.syncer = undefined;
    const stopped = syncer?.stop();
    this.exchanges.abort();
    await stopped;
  }

  kick(): void {
    this.syncer?.kick();
  }

  /** Closes the WebSocket, which would notice late that the network is gone. */
  onOffline(): void {
    this.offline.dispatchEvent(new Event('offline'));
  }

  private transport(): Transport {
    const { url, token, onRefused, network, onWelcome } = this.options;
    const { fetch, connect } = network;
    const transport = createHttpTransport({
      url: url(),
      signal: this.exchanges.signal,
      token,
      onRefused,
      fetch,
      lines: { connect, offline: this.offline },
      deadlineMs: EXCHANGE_MS,
    });
    const hello = explainedHello({
      hello: transport.hello,
      refusedOrigin: () => refusedOrigin({ url: url(), network }),
      now: () => performance.now(),
      signal: this.exchanges.signal,
    });
    return {
      ...transport,
      hello: async (message) => {
        const answer = await hello(message);
        if (answer.ok) await onWelcome(answer.value);
        return answer;
      },
    };
  }
}

const isOfTheNetwork = (reason: unknown): boolean =>
  reason instanceof TypeError || reason instanceof DOMException || reason instanceof ForeignAnswer;
