import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WriteMark } from './write-mark.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test.each([
  ['never answers', () => new Promise(() => undefined)],
  ['refuses', () => Promise.reject(new DOMException('', 'QuotaExceededError'))],
])(
  'set() and remove() resolve without a mark where the file system %s',
  async (_, getDirectory) => {
    vi.stubGlobal('navigator', { storage: { getDirectory } });
    const mark = new WriteMark('notes', 'worker');
    const noted: string[] = [];
    void Promise.resolve(mark.set()).then(() => noted.push('set'));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(mark.set()).toBeUndefined();
    mark.remove().then(
      () => noted.push('removed'),
      (reason: unknown) => noted.push(String(reason)),
    );
    await vi.advanceTimersByTimeAsync(3_000);
    expect(noted).toEqual(['set', 'removed']);
  },
);
