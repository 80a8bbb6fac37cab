/**
 * `burrowdb/testing`: databases and hubs in memory, in the process of the test. The database has the API of the page, because it is the
 * page's own code over the engine of the worker.
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
 * A clock for databases and hubs, that goes with the real one until a test sets it.
 * @example
 * const clock = createClock();
 * clock.set('2026-01-01T00:00:00Z');
 * const memory = await openDatabase('notes', { clock });
 * console.log((await memory.client().query(q.Now())).value.slice(0, 10)); // 2026-01-01
 * await memory.close();
 */
export const createClock = (): TestClock => new SetClock();

/**
 * A network for databases: all that it has are the hubs of this process, and what `fetch` reaches. It is online.
 * @example
 * const network = createNetwork();
 * const device = await openDatabase('todos', { network });
 * network.offline();
 * network.online();
 * await device.close();
 */
export const createNetwork = (): TestNetwork => new SwitchedNetwork();

/**
 * Opens an empty database in memory: no other call opens the same, and `close()` leaves nothing of it. Passwords are hashed at a cost
 * that no test waits for.
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
  // Locks of browsers go by names.
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
 * Opens an empty hub.
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

/** @returns µs */
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
