import { afterEach, expect, test, vi } from 'vitest';
import { startWorker } from './start-worker.ts';

afterEach(() => vi.unstubAllGlobals());

test('the error in a page without an origin, such as a sandboxed frame, says what to do', async () => {
  vi.stubGlobal('origin', 'null');
  const refused = (): never => {
    throw new DOMException("cannot be accessed from origin 'null'.", 'SecurityError');
  };
  await expect(startWorker(refused)).rejects.toMatchObject({
    code: 'worker_not_started',
    description: expect.stringMatching(/from origin 'null'\. .*`allow-same-origin`/) as string,
  });
});
