import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DATA_LIMITS } from '../limits.ts';
import { storageUse, watchStorage, type StorageWarning } from './storage.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A browser that counts how often it is asked. */
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

test('storageUse() tells usage, quota and persistence; nothing where the browser does not', async () => {
  expect(await storageUse(browserWith(250))).toEqual({
    usageBytes: 250,
    quotaBytes: 1000,
    isPersistent: true,
  });
  const silent = { estimate: () => Promise.resolve({}), persisted: () => Promise.resolve(false) };
  expect(await storageUse(silent)).toBeUndefined();
});

test('watchStorage() warns once of each threshold, and again after usage was below it', async () => {
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

test('watchStorage() looks seldom when there is room', async () => {
  const storage = browserWith(10);
  const stop = watchStorage({ storage, onWarning: () => undefined });
  await passes(DATA_LIMITS.storageFarMs * 4);
  expect(storage.looks).toBe(5);
  stop();
});
