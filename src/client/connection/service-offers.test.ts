import { afterEach, expect, test, vi } from 'vitest';
import { SERVICE_PROTOCOL } from '../../host/service-worker.ts';
import type { HttpReply } from '../../host/query.ts';
import { answerOffers } from './service-offers.ts';

afterEach(() => vi.unstubAllGlobals());

test('a stream is closed if its request is cancelled before the answer', async () => {
  const container = Object.assign(new EventTarget(), { startMessages: () => undefined });
  vi.stubGlobal('navigator', { serviceWorker: container });
  let answer: (reply: HttpReply) => void = () => undefined;
  const asked = vi.fn<() => Promise<HttpReply>>(() => new Promise((resolve) => (answer = resolve)));
  const cancel = vi.fn<() => void>();
  const stop = answerOffers({
    name: 'notes',
    http: asked,
    openStream: () => new ReadableStream({ cancel }),
  });
  const { port1, port2 } = new MessageChannel();
  const offer = new MessageEvent('message', {
    data: { type: 'burrow-offer', protocol: SERVICE_PROTOCOL, database: 'notes' },
    ports: [port2],
  });
  container.dispatchEvent(offer);

  const request = { method: 'POST', path: '/stream', headers: {}, body: undefined };
  port1.postMessage({ type: 'request', request });
  await expect.poll(() => asked.mock.calls.length).toBe(1);
  port1.start();
  port1.postMessage({ type: 'cancel' });
  await new Promise((resolve) => port1.addEventListener('close', resolve));
  answer({ status: 200, headers: {}, body: { stream: 1 } });

  await expect.poll(() => cancel.mock.calls.length).toBe(1);
  stop();
});
