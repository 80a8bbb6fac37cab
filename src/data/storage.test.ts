import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { DATA_LIMITS } from '../limits.ts';
import {
  storageUse,
  watchStorage,
  type StorageWarning,
  type StorageWatchOptions,
} from './storage.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A browser that counts the calls of `estimate()`. */
function browserWith(usage: number) {
  const browser = {
    usage,
    looks: 0,
    estimate: () => {
      browser.looks += 1;
      return Promise.resolve({ usage: browser.usage, quota: 1000 });
    },
    persisted: () => Promise.resolve(true),
  };
  return browser;
}

const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('storageUse() returns usage, quota and persistence, or undefined if the browser reports none', async () => {
  expect(await storageUse(browserWith(250))).toEqual({
    usageBytes: 250,
    quotaBytes: 1000,
    isPersistent: true,
  });
  const refused = () => Promise.reject(new TypeError('not in a private window'));
  expect(await storageUse({ ...browserWith(250), estimate: refused })).toBeUndefined();
  expect(await storageUse({ ...browserWith(250), persisted: refused })).toMatchObject({
    usageBytes: 250,
    isPersistent: false,
  });
  const silent = { estimate: () => Promise.resolve({}), persisted: () => Promise.resolve(false) };
  expect(await storageUse(silent)).toBeUndefined();
});

test('watchStorage() warns once per threshold, and again after usage has fallen below it', async () => {
  const storage = browserWith(100);
  const warnings: StorageWarning[] = [];
  const stop = watchStorage({ storage, onWarning: (warning) => warnings.push(warning) });
  const told = (): number[] => warnings.splice(0).map(({ threshold }) => threshold);
  await passes(0);
  expect(told()).toEqual([]);
  storage.usage = 850;
  await passes(DATA_LIMITS.storageFarMs);
  expect(told()).toEqual([0.8]);
  await passes(DATA_LIMITS.storageNearMs * 3);
  expect(told()).toEqual([]);
  storage.usage = 990;
  await passes(DATA_LIMITS.storageNearMs);
  expect(told()).toEqual([0.95]);
  storage.usage = 500;
  await passes(DATA_LIMITS.storageNearMs);
  storage.usage = 920;
  await passes(DATA_LIMITS.storageFarMs);
  expect(told()).toEqual([0.9]);
  stop();
  storage.usage = 999;
  await passes(DATA_LIMITS.storageFarMs * 2);
  expect(told()).toEqual([]);
});

test('watchStorage() continues after onWarning has thrown', async () => {
  const storage = browserWith(850);
  // Removes the test runner's listeners, which would count the rejection as a failure.
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  const failures: unknown[] = [];
  process.on('unhandledRejection', (reason) => failures.push(reason));
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const other of others) process.on('unhandledRejection', other);
  });
  const stop = watchStorage({
    storage,
    onWarning: () => {
      throw new Error('of the app');
    },
  });
  await passes(DATA_LIMITS.storageNearMs * 3);
  expect(storage.looks).toBe(4);
  stop();
  await vi.waitFor(() => expect(failures).toEqual([new Error('of the app')]));
});

test.each<[unknown, string]>([
  [undefined, 'Options must be an object'],
  [{ onWarnin: () => undefined }, 'Did you mean `onWarning`?'],
  [{}, '`onWarning` must be a function'],
  [{ onWarning: () => undefined, thresholds: 0.8 }, '`thresholds` an array of fractions'],
  [{ onWarning: () => undefined, thresholds: ['80 %'] }, '`thresholds` an array of fractions'],
  [{ onWarning: () => undefined, thresholds: [80, 90] }, '`thresholds` an array of fractions'],
])('watchStorage() refuses %o, because it would warn nobody', (options, sentence) => {
  expect(() => watchStorage(options as StorageWatchOptions)()).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: expect.stringContaining(sentence) as unknown,
    }),
  );
});

test('watchStorage() checks seldom while there is room', async () => {
  const storage = browserWith(10);
  const stop = watchStorage({ storage, onWarning: () => undefined });
  await passes(DATA_LIMITS.storageFarMs * 4);
  expect(storage.looks).toBe(5);
  stop();
});

test('watchStorage() measures the free space where the reported quota is not real', async () => {
  let usage = 500;
  const asked: number[] = [];
  const file = {
    createWritable: () =>
      Promise.resolve({
        truncate: (bytes: number) => {
          asked.push(bytes);
          return usage + bytes > 1000
            ? Promise.reject(new DOMException('full', 'QuotaExceededError'))
            : Promise.resolve();
        },
        abort: () => Promise.resolve(),
      }),
  };
  const folder = {
    getFileHandle: () => Promise.resolve(file),
    removeEntry: () => Promise.resolve(),
  } as unknown as FileSystemDirectoryHandle;
  const storage = {
    estimate: () => Promise.resolve({ usage, quota: usage + 10 * 2 ** 30 }),
    persisted: () => Promise.resolve(true),
    getDirectory: () => Promise.resolve(folder),
  };
  const warnings: StorageWarning[] = [];
  const stop = watchStorage({ storage, onWarning: (warning) => warnings.push(warning) });
  const told = (): number[] => warnings.splice(0).map(({ threshold }) => threshold);
  await passes(0);
  expect(told()).toEqual([]);
  expect(asked).toHaveLength(1);
  usage = 920;
  await passes(DATA_LIMITS.storageFarMs);
  expect(warnings[0]?.quotaBytes).toBe(Math.floor(920 / 0.9));
  expect(told()).toEqual([0.9]);
  // Near a threshold, usage is checked often.
  usage = 980;
  await passes(DATA_LIMITS.storageNearMs);
  expect(told()).toEqual([0.95]);
  usage = 500;
  await passes(DATA_LIMITS.storageNearMs);
  usage = 850;
  await passes(DATA_LIMITS.storageFarMs);
  expect(told()).toEqual([0.8]);
  stop();
});
