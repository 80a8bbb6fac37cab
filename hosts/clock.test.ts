import { expect, test } from 'vitest';
import { createClock, monotonicClock } from './clock.ts';

test('createClock() follows the wall clock, in whole microseconds', () => {
  let wall = 1_000_000;
  let monotonic = 10;
  const clock = createClock(
    () => wall,
    () => monotonic,
  );
  expect(clock()).toBe(1_000_000_000);
  monotonic += 0.1234;
  expect(clock()).toBe(1_000_000_123);
  // The device slept: only the wall clock has advanced.
  wall += 60_000;
  expect(clock()).toBe(1_060_000_123 - 123);
  monotonic += 1;
  wall += 1;
  expect(clock()).toBe(1_060_001_000);
});

test('when the wall clock is set back, createClock() goes back and monotonicClock() stands still until then', () => {
  let wall = 1_000_000;
  const clock = createClock(
    () => wall,
    () => 0,
  );
  const monotonic = monotonicClock(clock);
  expect(monotonic()).toBe(1_000_000_000);
  wall -= 1000;
  expect(clock()).toBe(999_000_000);
  expect(monotonic()).toBe(1_000_000_000);
  wall += 3000;
  expect(monotonic()).toBe(1_002_000_000);
});

test('monotonicClock() follows the wall clock back if that was wrong by more than a day', () => {
  const day = 86_400_000;
  let wall = 10 * day;
  const monotonic = monotonicClock(() => wall * 1000);
  wall += 1800 * day;
  expect(monotonic()).toBe(1810 * day * 1000);
  wall -= 1800 * day;
  expect(monotonic()).toBe(10 * day * 1000);
});
