/**
 * `burrowdb/testing`: databases and hubs in memory, in the process of the test. A database has the same API as in a page, because it runs
 * the page's code and the worker's engine.
 */
import { openDatabase as openOnPage, UsageError, type Database } from '../src/index.ts';
import { hexOfBytes } from '../src/codec/hex.ts';
import { LIMITS } from '../src/limits.ts';
import { random } from '../worker/browser/random.ts';
import { createHost } from '../worker/host.ts';
import { requireKnown } from '../src/schema/require-known.ts';
import { servePage } from '../worker/serve-page.ts';
import { MemoryHub } from './memory-hub.ts';
import { memoryStorage, nothingKept } from './memory-storage.ts';
import { plainHost } from './plain-host.ts';
import { startPortWorker } from './port-worker.ts';
import { SetClock } from './test-clock.ts';
import type {
  TestClock,
  TestDatabaseOptions,
  TestHub,
  TestHubOptions,
  TestNetwork,
  TimeSpan,
} from './test-kit.ts';
import { SwitchedNetwork } from './test-network.ts';

export type { TestClock, TestDatabaseOptions, TestHub, TestHubOptions, TestNetwork, TimeSpan };

/**
 * Creates a clock for databases and hubs. It shows the real time until a test sets it.
 * @example
 * const clock = createClock();
 * clock.set('2026-01-01T00:00:00Z');
 * const memory = await openDatabase('notes', { clock });
 * console.log((await memory.client().query(q.Now())).value.slice(0, 10)); // 2026-01-01
 * await memory.close();
 */
export const createClock = (): TestClock => new SetClock();

/**
 * Creates a network for databases, which is online at first. It reaches the hubs in this process, and other servers by `fetch`.
 * @example
 * const network = createNetwork();
 * const device = await openDatabase('todos', { network });
 * network.offline();
 * network.online();
 * await device.close();
 */
export const createNetwork = (): TestNetwork => new SwitchedNetwork();

/**
 * Opens an empty database in memory. Each call opens a database of its own, even with the same name, and `close()` removes all of its
 * data. Passwords are hashed at the lowest cost, so that tests do not wait.
 * @throws UsageError when an option is invalid or does not exist
 * @example
 * const memory = await openDatabase();
 * console.log(await memory.client().query(q.Add(1, 2))); // 3
 * await memory.close();
 */
export async function openDatabase(
  name = 'test',
  given: TestDatabaseOptions = {},
): Promise<Database> {
  requireKnown(given);
  const { clock, network, ...options } = given;
  const kept = nothingKept();
  const micros = microsOf(clock);
  const switched = networkOf(network);
  // Web Locks with the same name are shared within an origin, so each database gets a unique name.
  const own = hexOfBytes(random(8));
  const worker = (): Worker =>
    startPortWorker((port) => {
      const ended = new AbortController();
      const { signal } = ended;
      const around = { clock: micros, network: switched.until(signal), ended: signal };
      const host = createHost(memoryStorage({ ...around, kept }));
      servePage(
        {
          ...host,
          open: (asked, messages) =>
            host.open(
              { ...asked, name: `${asked.name} ${own}`, settings: cheap(asked.settings) },
              messages,
            ),
        },
        port,
      );
      return () => {
        ended.abort();
        void host.close();
      };
    });
  return openOnPage(name, { ...options, persist: false, durability: 'relaxed', worker });
}

/**
 * Opens an empty hub in memory.
 * @throws UsageError when an option is invalid or does not exist
 * @example
 * const empty = await openHub();
 * await empty.client().query(q.CreateCollection({ name: 'todos' }));
 * await empty.close();
 */
export async function openHub(options: TestHubOptions = {}): Promise<TestHub> {
  requireKnown(options, ['clock']);
  const { clock } = options;
  const hub = await MemoryHub.open(microsOf(clock));
  const database = await openOnPage('hub', {
    persist: false,
    worker: () =>
      startPortWorker((port) => {
        const ended = new AbortController();
        const host = plainHost(hub.asDatabase(), { ended: ended.signal });
        servePage(host, port);
        return () => {
          ended.abort();
          void host.close();
        };
      }),
  });
  return {
    url: hub.url,
    rootSecret: hub.rootSecret,
    client: (options) => database.client(options),
    fetch: database.fetch,
    close: async () => {
      await database.close();
      await hub.close();
    },
  };
}

const cheap = <Settings extends { readonly hashCost: number }>(settings: Settings): Settings => ({
  ...settings,
  hashCost: LIMITS.hashCostMin,
});

/** @returns the time in µs */
function microsOf(clock: TestClock | undefined): () => number {
  const known = clock ?? new SetClock();
  if (known instanceof SetClock) return known.micros;
  throw new UsageError('The option `clock` must be made by createClock().');
}

function networkOf(network: TestNetwork | undefined): SwitchedNetwork {
  const known = network ?? new SwitchedNetwork();
  if (known instanceof SwitchedNetwork) return known;
  throw new UsageError('The option `network` must be made by createNetwork().');
}
