import { afterEach, expect, test, vi } from 'vitest';
import { PROTOCOL } from '../../host/open.ts';
import { FakeWorker } from '../testing/fake-worker.ts';
import { startWorker } from './start-worker.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

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

test('a page that the browser prerenders may wait any time for its worker (L8)', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  vi.stubGlobal('document', { prerendering: true });
  // Browsers start the workers of such a page when it is shown: until then, nothing answers.
  const fake = new FakeWorker({}, null);
  const starting = startWorker(() => fake.asWorker());
  vi.advanceTimersByTime(600_000);
  fake.dispatchEvent(
    new MessageEvent('message', { data: { type: 'burrow-ready', protocol: PROTOCOL } }),
  );
  expect(await starting).toBe(fake);
});
