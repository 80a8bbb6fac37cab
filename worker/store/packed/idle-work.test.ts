import { afterEach, expect, test, vi } from 'vitest';
import { IdleWork } from './idle-work.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('what a flush or a merge fails with is logged, and no error of the worker, which would end it', () => {
  const onError = vi.fn<() => void>();
  vi.stubGlobal('reportError', onError);
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  const none = (): Promise<void> => Promise.resolve();
  const reason = new Error('as planned');
  new IdleWork({ maybeFlush: none, warm: none }).onFailure(reason);
  expect(onError).not.toHaveBeenCalled();
  expect(logged).toHaveBeenCalledWith(expect.anything(), reason);
});
