import { afterEach, expect, test, vi } from 'vitest';
import { IdleWork } from './idle-work.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('the failure of a flush or a merge is logged, and not reported as an error, which would end the worker', () => {
  const onError = vi.fn<() => void>();
  vi.stubGlobal('reportError', onError);
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  const none = (): Promise<void> => Promise.resolve();
  const reason = new Error('as planned');
  new IdleWork({ maybeFlush: none, warm: none }).onFailure(reason);
  expect(onError).not.toHaveBeenCalled();
  expect(logged).toHaveBeenCalledWith(expect.anything(), reason);
});
