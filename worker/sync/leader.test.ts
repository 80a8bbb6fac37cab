import { afterEach, expect, test, vi } from 'vitest';
import { Leader, WRITES_KEPT, type LeaderOptions } from './leader.ts';

afterEach(() => vi.useRealTimers());

const DAY_MS = 86_400_000;

test('a leading tab removes writes that were confirmed long ago, at once and then every day', async () => {
  vi.useFakeTimers();
  const pruned: number[] = [];
  const never = new Promise<never>(() => undefined);
  const leader = new Leader({
    replica: {
      prune: (age: number) => Promise.resolve(pruned.push(Date.now() + age - WRITES_KEPT)),
      takeFence: () => never,
    },
    clock: () => Date.now() * 1000,
    url: () => 'http://hub',
    network: {},
    report: () => undefined,
  } as unknown as LeaderOptions);
  const begun = Date.now();
  leader.begin();
  vi.advanceTimersByTime(2 * DAY_MS);
  expect(pruned.map((at) => at - begun)).toEqual([0, DAY_MS, 2 * DAY_MS]);
  void leader.end();
  vi.advanceTimersByTime(DAY_MS);
  expect(pruned).toHaveLength(3);
});
