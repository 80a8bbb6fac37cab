import { expect, onTestFinished, test, vi } from 'vitest';
import { after } from './after.ts';

test('after() calls the body once, when the time has passed', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const body = vi.fn<() => void>();
  after(10, body);
  vi.advanceTimersByTime(9);
  expect(body).not.toHaveBeenCalled();
  vi.advanceTimersByTime(20);
  expect(body).toHaveBeenCalledTimes(1);
});

test('after() does not call the body when it is cancelled', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const body = vi.fn<() => void>();
  after(10, body)();
  vi.advanceTimersByTime(20);
  expect(body).not.toHaveBeenCalled();
});
