import { expect, test } from 'vitest';
import { RecentTime } from './recent-time.ts';

test('RecentTime decays, and a credential that was idle for a second no longer counts', () => {
  let nowMs = 0;
  const recent = new RecentTime({ nowMs: () => nowMs });
  expect([recent.of('a'), recent.isAlone('a')]).toEqual([0, true]);
  for (let i = 0; i < 10; i += 1) recent.note('a', 10);
  expect([recent.of('a'), recent.isAlone('a'), recent.isAlone('b')]).toEqual([100, true, false]);
  recent.note('b', 1);
  recent.note('b', 1);
  expect([recent.isAlone('a'), recent.isAlone('b'), recent.isAlone('c')]).toEqual([
    false,
    false,
    false,
  ]);
  nowMs = 900;
  recent.note('a', 0);
  expect(recent.of('a')).toBeCloseTo(100 * Math.exp(-0.9));
  expect(recent.isAlone('a')).toBe(false);
  nowMs = 1100;
  expect([recent.isAlone('a'), recent.isAlone('b')]).toEqual([true, false]);
});
