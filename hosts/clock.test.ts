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

test('when the wall clock is set back, createClock() goes back and monotonicClock() runs at half speed until then', () => {
  let wall = 1_000_000;
  let passed = 0;
  const clock = createClock(
    () => wall,
    () => passed / 1000,
  );
  const monotonic = monotonicClock(clock, () => passed);
  const pass = (ms: number): void => {
    wall += ms;
    passed += ms * 1000;
  };
  expect(monotonic()).toBe(1_000_000_000);
  pass(10);
  expect(monotonic()).toBe(1_000_010_000);
  wall -= 1000;
  expect(clock()).toBe(999_010_000);
  expect(monotonic()).toBe(1_000_010_000);
  pass(500);
  expect(monotonic()).toBe(1_000_260_000);
  // Readings that follow each other quickly do not slow it down.
  for (let n = 0; n < 1000; n++) {
    passed += 1;
    monotonic();
  }
  expect(monotonic()).toBe(1_000_260_500);
  pass(3000);
  expect(monotonic()).toBe(clock());
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
