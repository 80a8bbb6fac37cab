import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sha256 } from '../../src/engine/testing/sha256.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createMemoryFiles, type FileStore } from '../../src/sync/device/files/file-store.ts';
import { putFile } from '../../src/sync/device/files/put-file.ts';
import { noteHome } from '../../src/sync/device/files/send-files.ts';
import { fileRequests } from '../sync/file-requests.ts';
import { FakeLocks } from '../testing/fake-locks.ts';
import { Files } from './files.ts';

const CHUNK = 1024 * 1024;
const nowMs = (): number => 1_767_225_600_000;
const of = { collection: 'notes', id: '1' };

/** Options of a device that syncs without failures. */
const syncing = {
  name: 'notes',
  locks: undefined,
  sha256,
  nowMs,
  epoch: () => Promise.resolve(undefined),
  isSyncing: () => true,
  isInContact: () => true,
  writes: () => Promise.resolve([]),
  emit: () => undefined,
  askToSend: () => undefined,
  report: (reason: unknown) => expect.unreachable(String(reason)),
};

/** A device and a hub that sends the first chunk at once, and the next one when `arrive()` is called. */
async function openBeside(blob: Blob) {
  const atHub = createMemoryFiles();
  const file = await putFile(blob, { store: atHub, sha256, nowMs });
  const store = createMemoryFiles();
  let arrive: () => void = () => undefined;
  let asked = 0;
  const signals: AbortSignal[] = [];
  const used = { isUsed: () => Promise.resolve(true), close: () => undefined };
  const files = new Files({
    store: Object.assign(store, used),
    database: createMemoryStore(),
    transport: (signal) => {
      signals.push(signal);
      const lost = (): Promise<never> => Promise.reject(new TypeError('Failed to fetch'));
      return {
        begin: lost,
        write: lost,
        async manifest() {
          const record = await atHub.record(file);
          return record ? { ok: true, value: record.manifest } : lost();
        },
        async read(_, n) {
          asked += 1;
          if (n > 0)
            await new Promise<void>((resolve, reject) => {
              arrive = resolve;
              signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
            });
          return { ok: true, value: (await atHub.chunk(file, n)) ?? new Uint8Array() };
        },
      };
    },
    ...syncing,
  });
  return { files, file, store, signals, asked: () => asked, arrive: () => arrive() };
}

/** What a disk can do to a stored chunk. */
const DAMAGES = [
  ['lost', () => undefined],
  ['changed', (bytes: Uint8Array) => bytes.map((byte) => byte ^ 1)],
  ['cut off', (bytes: Uint8Array) => bytes.subarray(1)],
] as const;
type Damage = (typeof DAMAGES)[number][1];

/** Damages a stored chunk until it is put again. */
function damagePart(store: FileStore, part: number, damage: Damage): void {
  const before = { ...store };
  let isLost = true;
  store.chunk = async (file, n) => {
    const bytes = await before.chunk(file, n);
    return isLost && n === part && bytes ? damage(bytes) : bytes;
  };
  store.putChunk = async (file, n, bytes) => {
    await before.putChunk(file, n, bytes);
    if (n === part) isLost = false;
  };
}

test.each(DAMAGES)(
  'get() fetches a chunk of a complete file again after the chunk was %s',
  async (_, damage) => {
    const blob = new Blob([new Uint8Array(5).fill(7)]);
    const { files, file, store, asked } = await openBeside(blob);
    await files.fetch({ file, of });
    damagePart(store, 0, damage);
    const got = await files.get({ file, of });
    expect(await got.text()).toBe('\x07'.repeat(5));
    expect(asked()).toBe(2);
    expect(await files.list()).toMatchObject([{ state: 'sent', error: undefined }]);
  },
);

test.each(DAMAGES)(
  'get() without a document refuses a file of which a chunk was %s, until the file is put again',
  async (_, damage) => {
    const blob = new Blob([new Uint8Array(5).fill(7)]);
    const { files, file, store } = await openBeside(blob);
    await files.put(blob);
    damagePart(store, 0, damage);
    for (let times = 0; times < 2; times++)
      await expect(files.get({ file, of: undefined })).rejects.toMatchObject({
        code: 'not found',
        message: expect.stringMatching(/or a part of it is damaged.*put it.*\{ of: ref \}/),
      });
    expect(await files.list()).toMatchObject([
      { state: 'partial', error: expect.stringContaining('put it again') },
    ]);
    await files.put(blob);
    expect((await files.get({ file, of: undefined })).size).toBe(5);
  },
);

test.each(DAMAGES)(
  'verify() names a file of which a chunk was %s, until the file is put again',
  async (_, damage) => {
    const blob = new Blob([new Uint8Array(CHUNK + 5).fill(7)]);
    const { files, file, store } = await openBeside(blob);
    expect(await files.verify()).toEqual([]);
    await files.put(new Blob(['x']));
    await files.put(blob);
    expect(await files.verify()).toEqual([]);
    damagePart(store, 1, damage);
    for (let times = 0; times < 2; times++)
      expect(await files.verify()).toEqual([expect.stringMatching(`${file}.*put it again`)]);
    expect((await files.list()).map(({ state }) => state).toSorted()).toEqual(['here', 'partial']);
    await files.put(blob);
    expect(await files.verify()).toEqual([]);
  },
);

test('verify() does not report a file that is removed during verification', async () => {
  const blob = new Blob(['a heron']);
  const { files, file, store } = await openBeside(blob);
  await files.put(blob);
  const before = { ...store };
  store.chunk = async (...which) => {
    await files.remove(file);
    return before.chunk(...which);
  };
  expect(await files.verify()).toEqual([]);
});

test('verify() is refused when the database has ended', async () => {
  const { files } = await openBeside(new Blob(['a heron']));
  await files.put(new Blob(['x']));
  files.end();
  await expect(files.verify()).rejects.toMatchObject({ code: 'storage_unavailable' });
});

test.each([
  ['the login page of a network', 200, '<html>Please log in to the network.</html>'],
  ['JSON that is not a manifest', 200, '{"size":"large"}'],
  ['null', 200, 'null'],
  ['the page of a proxy whose hub is away', 502, '<html>Bad gateway</html>'],
  ['the page of a proxy that refuses the request', 403, '<html>Forbidden</html>'],
])('get() fails with connection_needed when the response is %s', async (_, status, text) => {
  const store = createMemoryFiles();
  const file = await putFile(new Blob(['x']), { store: createMemoryFiles(), sha256, nowMs });
  const fetch = () => Promise.resolve(new Response(text, { status }));
  const files = new Files({
    ...syncing,
    store: Object.assign(store, { isUsed: () => Promise.resolve(true), close: () => undefined }),
    database: createMemoryStore(),
    transport: (signal) => fileRequests({ url: 'https://hub.example', token: 's', fetch, signal }),
  });
  await expect(files.get({ file, of })).rejects.toMatchObject({ code: 'connection_needed' });
});

test('get() of a file that arrives damaged fails, or with `wait` reports it in the progress and waits', async () => {
  const blob = new Blob(['a heron']);
  const atHub = createMemoryFiles();
  const file = await putFile(blob, { store: atHub, sha256, nowMs });
  const manifest = JSON.stringify((await atHub.record(file))?.manifest);
  let bytes = 'a horse';
  const fetch: typeof globalThis.fetch = (url) =>
    Promise.resolve(new Response((url as string).includes('/0?') ? bytes : manifest));
  const errors: (string | undefined)[] = [];
  const files = new Files({
    ...syncing,
    emit: ({ error }) => errors.push(error),
    store: Object.assign(createMemoryFiles(), {
      isUsed: () => Promise.resolve(true),
      close: () => undefined,
    }),
    database: createMemoryStore(),
    transport: (signal) => fileRequests({ url: 'https://hub.example', token: 's', fetch, signal }),
  });
  const damaged = expect.stringContaining('arrived damaged') as string;
  await expect(files.get({ file, of })).rejects.toMatchObject({
    code: 'connection_needed',
    message: damaged,
  });
  const waited = files.get({ file, of, wait: true });
  await expect.poll(() => errors).toEqual([damaged, damaged]);
  bytes = 'a heron';
  files.onArrivals([file]);
  expect(await (await waited).text()).toBe('a heron');
});

test('put() of a damaged file that was not sent yet asks for it to be sent', async () => {
  const blob = new Blob([new Uint8Array(5).fill(7)]);
  const store = createMemoryFiles();
  const file = await putFile(blob, { store, sha256, nowMs });
  await noteHome(file, [1024, '1'], store);
  let asked = 0;
  const files = new Files({
    ...syncing,
    store: Object.assign(store, { isUsed: () => Promise.resolve(true), close: () => undefined }),
    database: createMemoryStore(),
    transport: () => undefined,
    askToSend: () => (asked += 1),
  });
  damagePart(store, 0, () => undefined);
  await expect(files.get({ file, of: undefined })).rejects.toMatchObject({ code: 'not found' });
  expect([asked, await files.unsent()]).toEqual([0, 0]);
  await files.put(blob);
  expect([asked, await files.unsent()]).toEqual([1, 1]);
});

test('an aborted get() ends the fetch and keeps the chunks received, and the next get() continues it', async () => {
  const blob = new Blob([new Uint8Array(CHUNK + 5).fill(7)]);
  const { files, file, signals, asked, arrive } = await openBeside(blob);
  const stop = new AbortController();
  const got = files.get({ file, of }, stop.signal);
  await expect.poll(asked).toBe(2);
  stop.abort();
  await expect(got).rejects.toMatchObject({ code: 'connection_needed' });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(await files.list()).toMatchObject([{ state: 'partial' }]);
  const again = files.get({ file, of });
  await expect.poll(asked).toBe(3);
  arrive();
  expect((await again).size).toBe(blob.size);
});

test('two calls of get() at once fetch each chunk once', async () => {
  const blob = new Blob([new Uint8Array(CHUNK + 5).fill(7)]);
  const { files, file, asked, arrive } = await openBeside(blob);
  const both = [files.get({ file, of }), files.get({ file, of })];
  await expect.poll(asked).toBe(2);
  await files.list();
  arrive();
  for (const each of both) expect((await each).size).toBe(blob.size);
  expect(asked()).toBe(2);
});

test('a call of get() continues the fetch of another call that is aborted', async () => {
  const blob = new Blob([new Uint8Array(CHUNK + 5).fill(7)]);
  const { files, file, asked, arrive } = await openBeside(blob);
  const stop = new AbortController();
  const given = files.get({ file, of }, stop.signal);
  const other = files.get({ file, of });
  await expect.poll(asked).toBe(2);
  stop.abort();
  await expect(given).rejects.toMatchObject({ code: 'connection_needed' });
  await expect.poll(asked).toBe(3);
  arrive();
  expect((await other).size).toBe(blob.size);
});

test('of several calls of get() that wait for an aborted one, only one continues its fetch', async () => {
  const blob = new Blob([new Uint8Array(CHUNK + 5).fill(7)]);
  const { files, file, asked, arrive } = await openBeside(blob);
  const stop = new AbortController();
  const given = files.get({ file, of }, stop.signal);
  const others = [files.get({ file, of }), files.get({ file, of })];
  await expect.poll(asked).toBe(2);
  stop.abort();
  await expect(given).rejects.toMatchObject({ code: 'connection_needed' });
  await expect.poll(asked).toBe(3);
  await files.list();
  arrive();
  for (const each of others) expect((await each).size).toBe(blob.size);
  expect(asked()).toBe(3);
});

test('close() ends a fetch in progress', async () => {
  const { files, file, signals, asked } = await openBeside(new Blob([new Uint8Array(CHUNK + 5)]));
  const got = files.get({ file, of }, new AbortController().signal);
  await expect.poll(asked).toBe(2);
  files.close();
  await expect(got).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(signals[0]?.aborted).toBe(true);
});

const oneLock = (): LockManager => new FakeLocks() as unknown as LockManager;

/** Tabs of one device, each with its own connection to the hub, which accepts chunks when it is told to. */
async function openTabs(count: number, blob: Blob, locks = oneLock()) {
  const store = createMemoryFiles();
  const file = await putFile(blob, { store, sha256, nowMs });
  await noteHome(file, [1024, '1'], store);
  const missing = new Set((await store.record(file))?.manifest.chunks.keys());
  const written: string[] = [];
  const arrivals: (() => void)[] = [];
  const tabs = Array.from(
    { length: count },
    (_, tab) =>
      new Files({
        store: Object.assign(store, {
          isUsed: () => Promise.resolve(true),
          close: () => undefined,
        }),
        database: createMemoryStore(),
        transport: (signal) => ({
          begin: () => Promise.resolve({ ok: true, value: { missing: [...missing] } }),
          manifest: () => Promise.reject(new TypeError('Failed to fetch')),
          read: () => Promise.reject(new TypeError('Failed to fetch')),
          async write(_, n) {
            written.push(`${tab}: ${n}`);
            await new Promise<void>((resolve, reject) => {
              arrivals.push(resolve);
              signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
            });
            missing.delete(n);
            return { ok: true, value: undefined };
          },
        }),
        ...syncing,
        locks,
      }),
  );
  return { tabs, store, written, arrive: () => arrivals.splice(0).forEach((each) => each()) };
}

test('a file that is noted while the upload of another ends is sent too', async () => {
  const { tabs, store, written, arrive } = await openTabs(1, new Blob([new Uint8Array(5)]));
  const [tab] = tabs as [Files];
  const later = await putFile(new Blob(['later']), { store, sha256, nowMs });
  const before = { ...store };
  const looked = new Promise<void>((resolve) => {
    store.records = async () => {
      const found = await before.records();
      if (found.every(({ unsent }) => unsent.length === 0)) {
        store.records = () => before.records();
        await noteHome(later, [1024, '2'], store);
        tab.uploads.kick();
        resolve();
      }
      return found;
    };
  });
  tab.uploads.kick();
  await expect.poll(() => written).toEqual(['0: 0']);
  arrive();
  await looked;
  await expect.poll(() => tab.unsent()).toBe(0);
});

test('a tab and the service worker send one at a time, and no chunk is sent twice', async () => {
  const { tabs, written, arrive } = await openTabs(2, new Blob([new Uint8Array(CHUNK + 5)]));
  const [one, other] = tabs as [Files, Files];
  const sent = [one.uploads.sendAll(), other.uploads.sendAll()];
  await expect.poll(() => written).toEqual(['0: 0']);
  arrive();
  await expect.poll(() => written).toEqual(['0: 0', '0: 1']);
  arrive();
  await Promise.all(sent);
  expect(written).toEqual(['0: 0', '0: 1']);
  expect(await other.unsent()).toBe(0);
});

test('takeOver() sends in place of a frozen tab', async () => {
  const { tabs, written, arrive } = await openTabs(2, new Blob([new Uint8Array(5)]));
  const [frozen, other] = tabs as [Files, Files];
  const stopped = frozen.uploads.sendAll().catch((reason: unknown) => reason);
  await expect.poll(() => written).toEqual(['0: 0']);
  await other.uploads.takeOver();
  await expect.poll(() => written).toEqual(['0: 0', '1: 0']);
  expect(await stopped).toMatchObject({ name: 'AbortError' });
  arrive();
  await expect.poll(() => other.unsent()).toBe(0);
  for (const each of tabs) each.close();
});

test('a file that a proxy does not let through stays unsent, with the reason, until it is sent', async () => {
  const store = createMemoryFiles();
  const file = await putFile(new Blob(['x']), { store, sha256, nowMs });
  await noteHome(file, [1024, '1'], store);
  let status = 413;
  const files = new Files({
    ...syncing,
    store: Object.assign(store, { isUsed: () => Promise.resolve(true), close: () => undefined }),
    database: createMemoryStore(),
    transport: (signal) =>
      fileRequests({
        url: 'https://hub.example',
        token: 's',
        signal,
        fetch: async (_, { body } = {}) =>
          typeof body === 'string'
            ? Response.json({ missing: [0] })
            : new Response(status === 413 ? '<html>Too large</html>' : null, { status }),
      }),
  });
  await expect(files.uploads.sendAll()).rejects.toThrow('413');
  const why = 'The response, with status 413, is not from a hub.';
  expect(await files.list()).toMatchObject([{ state: 'unsent', error: why }]);
  status = 204;
  await files.uploads.sendAll();
  expect(await files.list()).toMatchObject([{ state: 'sent', error: undefined }]);
});

/** A connection to the hub that breaks once at each chunk. */
function breakingLine(): { readonly next: (n: number) => Promise<void> } {
  const broken = new Set<number>();
  return {
    next: async (n) => {
      if (broken.has(n)) return;
      broken.add(n);
      throw new TypeError('Failed to fetch');
    },
  };
}

test.each(['sent', 'fetched'])(
  'a file is %s within seconds over a connection that breaks at each chunk',
  async (way) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const [here, atHub] = [createMemoryFiles(), createMemoryFiles()];
    const blob = new Blob([new Uint8Array(6 * CHUNK)]);
    const file = await putFile(blob, { store: way === 'sent' ? here : atHub, sha256, nowMs });
    if (way === 'sent') await noteHome(file, [1024, '1'], here);
    const line = breakingLine();
    const arrived = new Set<number>();
    const files = new Files({
      ...syncing,
      store: Object.assign(here, { isUsed: () => Promise.resolve(true), close: () => undefined }),
      database: createMemoryStore(),
      transport: () => ({
        async begin(_, { chunks }) {
          const missing = [...chunks.keys()].filter((n) => !arrived.has(n));
          return { ok: true, value: { missing } };
        },
        async write(_, n) {
          await line.next(n);
          arrived.add(n);
          return { ok: true, value: undefined };
        },
        async manifest() {
          const record = await atHub.record(file);
          if (!record) throw new TypeError('Failed to fetch');
          return { ok: true, value: record.manifest };
        },
        async read(_, n) {
          await line.next(n);
          return { ok: true, value: (await atHub.chunk(file, n)) ?? new Uint8Array() };
        },
      }),
    });
    if (way === 'sent') files.uploads.kick();
    else void files.fetch({ file, of, wait: true });
    // There is a pause of one second after each break.
    for (let second = 0; second < 12; second++) {
      await vi.advanceTimersByTimeAsync(1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await files.list()).toMatchObject([{ state: 'sent' }]);
    files.close();
  },
);

test('sending leaves no listener on the signal of the database', async () => {
  // The own listeners of Web Locks on the signal are not tested here.
  const locks = { request: (_: string, __: object, body: () => Promise<void>) => body() };
  const blob = new Blob([new Uint8Array(5)]);
  const { tabs, arrive, written } = await openTabs(1, blob, locks as unknown as LockManager);
  const [tab] = tabs as [Files];
  const { signal } = (tab as unknown as { readonly ended: AbortController }).ended;
  const sent = tab.uploads.sendAll();
  await expect.poll(() => written).toHaveLength(1);
  arrive();
  await sent;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a file that is put again during its removal is not listed as unsent', async () => {
  const blob = new Blob(['a heron']);
  const { files, store } = await openBeside(blob);
  const { file } = await files.put(blob);
  const before = { ...store };
  store.remove = async (...call) => {
    const isRemoved = await before.remove(...call);
    await files.put(blob);
    return isRemoved;
  };
  await files.remove(file);
  expect(await files.list()).toMatchObject([{ file, state: 'here' }]);
});
