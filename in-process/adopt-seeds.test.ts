/**
 * Adoption with random faults from a seed: pages are killed during it, the network comes and goes, others write. Each document is created
 * once, with its file.
 */
import { afterEach, expect, test } from 'vitest';
import { adopt } from '../src/adopt/adopt.ts';
import { openDatabase as openOnPage, q, type Database, type FileRef } from '../src/index.ts';
import { Chance } from '../src/sync/testing/simulation/clockwork.ts';
import { createHost } from '../worker/host.ts';
import { servePage } from '../worker/serve-page.ts';
import { memoryStorage, nothingKept } from './memory-storage.ts';
import { startPortWorker } from './port-worker.ts';
import { SwitchedNetwork } from './test-network.ts';
import { openDatabase, openHub, type TestHub } from './testing.ts';

const SEEDS = 40;
const NOTES = 8;
const notes = q.Collection<{ title: string; photo?: FileRef }>('notes');
const all = q.Documents(notes);

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A device with its stored data, whose pages can be killed. */
class Device {
  readonly network = new SwitchedNetwork();
  private readonly kept = nothingKept();
  private worker: Worker | undefined;

  open(): Promise<Database> {
    return openOnPage('copy', {
      persist: false,
      worker: () => {
        this.worker = startPortWorker((port) => {
          const ended = new AbortController();
          const { signal } = ended;
          const host = createHost(
            memoryStorage({
              kept: this.kept,
              ended: signal,
              clock: () => Date.now() * 1000,
              network: this.network.until(signal),
            }),
          );
          servePage(host, port);
          return () => {
            ended.abort();
            void host.close();
          };
        });
        return this.worker;
      },
    });
  }

  /** Terminates the worker without notifying anyone. */
  kill(): void {
    this.worker?.terminate();
  }
}

async function makeLocal(): Promise<Database> {
  const local = await openDatabase('alone');
  closing.push(() => local.close());
  await local.client().query(q.CreateCollection({ name: 'notes' }));
  for (let n = 0; n < NOTES; n++) {
    const photo = n % 3 === 0 ? await local.files.put(new Blob([`photo ${n}`])) : undefined;
    const data = { title: `note ${n}`, ...(photo && { photo }) };
    await local.client().query(q.Create(q.Ref(notes, String(100 + n)), { data }));
  }
  return local;
}

class Killed extends Error {}

/** One page of the device: it adopts until it is killed or done. @returns whether all writes have their verdicts */
async function adoptInPage(
  device: Device,
  local: Database,
  { hub, secret, chance, count }: Scene,
): Promise<boolean> {
  const db = await device.open();
  const stop = new AbortController();
  const disturb = (): void => {
    const fault = chance.below(8);
    if (fault === 0) {
      count('page killed');
      device.kill();
      stop.abort(new Killed());
    } else if (fault === 1 && device.network.isOnline) {
      count('network lost');
      device.network.offline();
    } else if (fault < 4 && !device.network.isOnline) {
      count('network back');
      device.network.online();
    }
  };
  const killed = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason as Error));
  });
  killed.catch(() => undefined);
  const work = async (): Promise<boolean> => {
    const sync = await db.sync({ url: hub.url, secret, sets: [all] });
    const { settled } = await adopt(local, sync, { signal: stop.signal, onProgress: disturb });
    device.network.online();
    const { refused } = await settled;
    expect(refused).toEqual([]);
    await db.files.whenSent();
    return true;
  };
  try {
    return await Promise.race([work(), killed]);
  } catch (reason) {
    if (!(reason instanceof Killed)) throw reason;
    return false;
  } finally {
    if (!stop.signal.aborted) await db.close();
  }
}

interface Scene {
  readonly hub: TestHub;
  readonly secret: string;
  readonly chance: Chance;
  readonly count: (what: string) => void;
}

test('each document is created once, with its file, despite killed pages and network failures', async () => {
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  for (let seed = 1; seed <= SEEDS; seed++) {
    const hub = await openHub();
    closing.push(() => hub.close());
    await hub.client().query(q.CreateCollection({ name: 'notes' }));
    const { secret } = await hub.client().query(q.CreateKey({ role: 'admin' }));
    const local = await makeLocal();
    const device = new Device();
    const scene = { hub, secret, chance: new Chance(seed), count };
    for (let isDone = false; !isDone;) {
      // The first page must reach the hub once.
      device.network.online();
      isDone = await adoptInPage(device, local, scene);
    }
    count('adopted');
    const titles = q.Map(q.Paginate(all), (ref) => q.Select(['data', 'title'], q.Get(ref)));
    expect((await hub.client().query(titles)).data, `seed ${seed}`).toEqual(
      Array.from({ length: NOTES }, (_, n) => `note ${n}`),
    );
    const events = q.Count(q.Select('data', q.Paginate(q.Events(all), { size: 100 })));
    expect(await hub.client().query(events), `seed ${seed}`).toBe(NOTES);
    const other = await openDatabase('other');
    const sync = await other.sync({ url: hub.url, secret, sets: [all] });
    await sync.whenSynced();
    expect(await other.files.fetchAll(sync.client, all), `seed ${seed}`).toEqual({
      files: Math.ceil(NOTES / 3),
      notUploaded: [],
    });
    await other.close();
    for (const close of closing.splice(0).reverse()) await close();
  }
  console.log([...counts].map(([what, times]) => `${times}  ${what}`).join('\n'));
  for (const what of ['page killed', 'network lost', 'network back', 'adopted'])
    expect(counts.get(what), what).toBeGreaterThan(0);
}, 240_000);
