/** Background work of the hub, over a store that is unavailable for a while. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { scan } from '../../src/store/scan.ts';
import { HIGHEST_KEY, LOWEST_KEY, syncKey } from '../../src/codec/key.ts';
import { prefixRange } from '../../src/codec/ranges.ts';
import { openLogKit, requestAt, ANSWER, NOON } from '../../src/logs/testing/log-kit.ts';
import { memoryStorage, openTestHub } from '../testing/test-hub.ts';

test('an index whose build failed is built when the store is available again, without another write', async () => {
  const storage = memoryStorage();
  const { store } = storage;
  let isAway = false;
  const hub = await openTestHub({
    storage: {
      ...storage,
      store: {
        read: (body, options) => store.read(body, options),
        write: (body, options) =>
          isAway
            ? Promise.reject(new Refusal('storage_unavailable', 'The store is away.'))
            : store.write(body, options),
        close: () => store.close(),
      },
    },
    settings: { queryLog: false },
  });
  const { query, logged } = hub;
  await query({ create_collection: { object: { name: 'notes' } } });
  await query({ create: { collection: 'notes' }, params: { object: {} } });
  const leave = hub.hub.onCommit(() => (isAway = true));
  // An index over all collections is not built by the query that creates it.
  const everything = { name: 'everything', source: '_' };
  expect((await query({ create_index: { object: everything } })).status).toBe(201);
  await expect.poll(logged).toContain('The store is away.');
  leave();
  isAway = false;
  const isActive = { select: 'active', from: { get: { index: 'everything' } } };
  await expect.poll(async () => (await query(isActive)).body.resource).toBe(true);
});

test('old query records are deleted, even by a hub that does not record queries', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const storage = memoryStorage();
  const { log } = openLogKit({}, storage.store);
  log.add(requestAt(NOON), ANSWER);
  await log.flush();
  await openTestHub({ storage, settings: { queryLog: false } });
  const all = scan('log', { lower: LOWEST_KEY, upper: HIGHEST_KEY }, { limit: 10 });
  const rows = async () => (await storage.store.read((tx) => tx.fetch([], [all]))).ranges[0];
  expect(await rows()).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(10_000);
  await vi.waitFor(async () => expect(await rows()).toEqual([]));
});

test('old changes are pruned once a day, although the clock is set back', async () => {
  const day = 86_400_000;
  vi.useFakeTimers({ toFake: ['setTimeout', 'Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const storage = memoryStorage();
  const hub = await openTestHub({ storage, settings: { queryLog: false } });
  const { query } = hub;
  const changes = scan('sync', prefixRange(syncKey('changes')), { limit: 10 });
  const kept = async () =>
    (await storage.store.read((tx) => tx.fetch([], [changes]))).ranges[0]?.length;
  const writeLater = async (days: number, name: string) => {
    vi.setSystemTime(Date.now() + days * day);
    expect((await query({ create_collection: { object: { name } } })).status).toBe(201);
  };
  await writeLater(0, 'first');
  await writeLater(61, 'second');
  await vi.advanceTimersByTimeAsync(10_000);
  await vi.waitFor(async () => expect(await kept()).toBe(1));
  await writeLater(61, 'third');
  vi.setSystemTime(Date.now() - day / 2);
  for (let hours = 0; hours < 23; hours += 1) await vi.advanceTimersByTimeAsync(3_600_000);
  expect(await kept()).toBe(2);
  for (let hours = 0; hours < 2; hours += 1) await vi.advanceTimersByTimeAsync(3_600_000);
  await vi.waitFor(async () => expect(await kept()).toBe(1));
});

test('a clock that is years ahead deletes nothing, and has no effect once it is corrected', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const storage = memoryStorage();
  const hub = await openTestHub({ storage, settings: { queryLog: false } });
  const { query } = hub;
  await query({ create_collection: { object: { name: 'notes' } } });
  const ref = { ref: { collection: 'notes' }, id: '1' };
  const ttl = { time_add: { now: null }, offset: 90, unit: 'days' };
  expect((await query({ create: ref, params: { object: { ttl } } })).status).toBe(201);
  const isLogged = scan('sync', { lower: LOWEST_KEY, upper: HIGHEST_KEY }, { limit: 10 });
  const kept = async () => (await storage.store.read((tx) => tx.fetch([], [isLogged]))).ranges[0];
  const before = await kept();
  expect(before).not.toEqual([]);

  const right = Date.now();
  vi.setSystemTime(right + 5 * 365 * 86_400_000);
  // The first sweep, and further ones that would continue if the first had changed anything.
  await vi.advanceTimersByTimeAsync(10_000);
  await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0));
  for (let hours = 0; hours < 2; hours += 1) await vi.advanceTimersByTimeAsync(3_600_000);
  expect(await kept()).toEqual(before);
  vi.setSystemTime(right);
  expect((await query({ get: ref })).status).toBe(200);
});
