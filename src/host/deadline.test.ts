import { afterEach, expect, test, vi } from 'vitest';
import { deadline } from './deadline.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** As when the device sleeps: no code runs, but clocks advance. */
const sleep = (ms: number): unknown =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('a deadline passes after its time, once, unless it is cleared', () => {
  vi.useFakeTimers();
  const [late, never] = [vi.fn<() => void>(), vi.fn<() => void>()];
  const [passing, cleared] = [deadline(1000, late), deadline(1000, never)];
  vi.advanceTimersByTime(999);
  clearInterval(cleared);
  expect(late).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10_000);
  expect(late).toHaveBeenCalledOnce();
  expect(never).not.toHaveBeenCalled();
  clearInterval(passing);
});

test('what answers at once after a sleep is not late (L8)', async () => {
  let timer: ReturnType<typeof deadline> | undefined;
  const outcome = await new Promise((resolve) => {
    timer = deadline(40, () => resolve('late'));
    setTimeout(() => resolve('answered'), 60);
    sleep(80);
  });
  clearInterval(timer);
  expect(outcome).toBe('answered');
});

test('a deadline does not pass while the page is prerendered', () => {
  vi.useFakeTimers();
  const document = { prerendering: true };
  vi.stubGlobal('document', document);
  const late = vi.fn<() => void>();
  deadline(1000, late);
  vi.advanceTimersByTime(600_000);
  expect(late).not.toHaveBeenCalled();
  document.prerendering = false;
  vi.advanceTimersByTime(999);
  expect(late).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(late).toHaveBeenCalledOnce();
});
