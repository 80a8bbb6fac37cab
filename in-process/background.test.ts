/** Sync without a page: one device whose pages are opened and closed. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { backgroundRequestIn, backgroundTag } from '../src/host/background.ts';
import { openDatabase as openOnPage, q, type Database, type Sync } from '../src/index.ts';
import { syncOnce } from '../worker/background/sync-once.ts';
import { createHost } from '../worker/host.ts';
import type { DatabaseStorage } from '../worker/opening/find-store.ts';
import { servePage } from '../worker/serve-page.ts';
import { memoryStorage, nothingKept } from './memory-storage.ts';
import { startPortWorker } from './port-worker.ts';
import { SwitchedNetwork } from './test-network.ts';
import { openHub, type TestHub } from './testing.ts';
import { stallParts } from './testing/stall-parts.ts';

const notes = q.Collection<{ text: string }>('notes');
const texts = q.Map(q.Paginate(q.Documents(notes)), (ref) =>
  q.Select(['data', 'text'], q.Get(ref)),
);
/** Much longer than an exchange within one process takes. */
const LONG_MS = 60_000;

let hub: TestHub;
let secret: string;
let network: SwitchedNetwork;
let kept: ReturnType<typeof nothingKept>;

beforeEach(async () => {
  hub = await openHub();
  const admin = hub.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  ({ secret } = await admin.query(q.CreateKey({ role: 'admin' })));
  network = new SwitchedNetwork();
  kept = nothingKept();
});
afterEach(() => hub.close());

const storage = (ended: AbortSignal): DatabaseStorage =>
  memoryStorage({ kept, ended, clock: () => Date.now() * 1000, network: network.until(ended) });

/** Opens the data stored on the device, as a page does. */
const openPage = (): Promise<Database> =>
  openOnPage('notes', {
    persist: false,
    worker: () =>
      startPortWorker((port) => {
        const ended = new AbortController();
        const host = createHost(storage(ended.signal));
        servePage(host, port);
        return () => {
          ended.abort();
          void host.close();
        };
      }),
  });

async function inPage<T>(work: (sync: Sync) => Promise<T>): Promise<T> {
  const db = await openPage();
  try {
    return await work(await db.sync({ url: hub.url, secret, sets: [q.Documents(notes)] }));
  } finally {
    await db.close();
  }
}

/** What the service worker does when the browser sends a sync event. */
async function syncWithoutPage(limitMs = LONG_MS): Promise<void> {
  const db = await openPage();
  const request = backgroundRequestIn(backgroundTag(db.stored));
  await db.close();
  if (!request) throw new Error('The tag of a page is not read.');
  await syncOnce(storage(new AbortController().signal), request, limitMs);
}

/** Writes a note offline. */
const write = (text: string) => (sync: Sync) =>
  sync.client.submit(q.Create(notes, { data: { text } }));

const writes = (): Promise<readonly string[]> =>
  inPage(async (sync) => (await sync.writes.list()).map(({ state }) => state));

describe('without a page', () => {
  beforeEach(async () => {
    await inPage((sync) => sync.whenSynced());
    network.offline();
    await inPage(write('from here'));
  });

  test('local writes are sent and new documents are fetched', async () => {
    await hub.client().query(q.Create(notes, { data: { text: 'from elsewhere' } }));
    network.online();
    await syncWithoutPage();
    expect((await hub.client().query(texts)).data.toSorted()).toEqual([
      'from elsewhere',
      'from here',
    ]);
    network.offline();
    await inPage(async ({ client }) => {
      expect((await client.query(texts)).data.toSorted()).toEqual(['from elsewhere', 'from here']);
    });
    expect(await writes()).toEqual(['confirmed']);
  });

  test('if the hub cannot be reached in time, the sync rejects and the writes stay local', async () => {
    await expect(syncWithoutPage(100)).rejects.toMatchObject({ code: 'connection_needed' });
    expect(await writes()).toEqual(['local']);
    network.online();
    await syncWithoutPage();
    expect(await writes()).toEqual(['confirmed']);
  });

  test('with a revoked token the sync ends without a retry: the writes wait for a login', async () => {
    const key = await hub.client({ secret }).query(q.KeyFromSecret(secret));
    await hub.client().query(q.Delete(q.Select('ref', key)));
    network.online();
    await syncWithoutPage();
    expect(await hub.client().query(q.Count(q.Documents(notes)))).toBe(0);
  });

  test('a database whose user has signed out is not synced', async () => {
    const db = await openPage();
    await db.signOut();
    await db.close();
    network.online();
    await syncWithoutPage();
    expect(await hub.client().query(q.Count(q.Documents(notes)))).toBe(0);
  });
});

test('the sync rejects, and is retried, if a file is not sent in time', async () => {
  await inPage((sync) => sync.whenSynced());
  network.offline();
  await inPage(async (sync) => {
    const photo = await sync.files.put(new Blob(['a heron']));
    await sync.client.submit(q.Create('notes', { data: { photo } }));
  });
  const sent = stallParts(network);
  network.online();
  await expect(syncWithoutPage(2000)).rejects.toMatchObject({ code: 'connection_needed' });
  expect(sent()).toBe(1);
});

test('a first sync that is interrupted before the schema arrives rejects, and again when offline', async () => {
  let isCutOff = true;
  const until = network.until.bind(network);
  network.until = (ended) => {
    const inner = until(ended);
    const fetch: typeof inner.fetch = (input, init) => {
      const url = input instanceof Request ? input.url : input.toString();
      if (isCutOff && url.endsWith('/sync/pull')) network.offline();
      return inner.fetch(input, init);
    };
    return { ...inner, fetch };
  };
  const nothing = async (): Promise<void> => undefined;
  const failure = { code: 'connection_needed' };
  await expect(inPage(nothing)).rejects.toMatchObject(failure);
  expect(network.isOnline).toBe(false);
  await expect(inPage(nothing)).rejects.toMatchObject(failure);
  isCutOff = false;
  network.online();
  await inPage((sync) => sync.whenSynced());
});

test('a verdict read by `writes.settled()` after a reload causes no `verdict` event', async () => {
  const { id } = await inPage(async (sync) => {
    const write = await sync.client.submit(q.Create(notes, { data: { text: 'a' } }));
    await write.settled;
    return write;
  });
  await inPage(async (sync) => {
    const told: string[] = [];
    sync.addEventListener('verdict', ({ detail }) => told.push(detail.id));
    expect(await sync.writes.settled(id)).toMatchObject({ id, state: 'confirmed' });
    const next = await sync.client.submit(q.Create(notes, { data: { text: 'b' } }));
    await next.settled;
    await sync.whenSettled();
    expect(told).toEqual([next.id]);
  });
});

test('a database that is not a copy is not synced', async () => {
  await expect(syncWithoutPage()).resolves.toBeUndefined();
});
