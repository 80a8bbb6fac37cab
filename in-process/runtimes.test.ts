/** `burrowdb/remote` without what other runtimes than Node lack. */
import { afterEach, beforeAll, afterAll, expect, test, vi } from 'vitest';
import { createLiveRoute } from '../hub/live/live-route.ts';
import { DEFAULT_SETTINGS } from '../hub/settings/settings.ts';
import { startTestHub, type TestHub } from '../hub/testing/test-hub.ts';
import { DatabaseClosed, q } from '../src/index.ts';
import { connect } from './remote.ts';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub({ routes: (opened) => [createLiveRoute(opened, DEFAULT_SETTINGS)] });
});
afterAll(() => hub.close());
afterEach(() => vi.unstubAllGlobals());

/** Ports that cannot be transferred, as those of Cloudflare Workers. */
class UntransferablePorts extends MessageChannel {
  constructor() {
    super();
    for (const port of [this.port1, this.port2]) {
      const post = port.postMessage.bind(port);
      port.postMessage = (message: unknown, transfer?: unknown): void => {
        if (Array.isArray(transfer) && transfer.length > 0)
          throw new Error('Transfer list is not supported');
        post(message);
      };
    }
  }
}

test.each([
  ['Cloudflare Workers', { MessageChannel: UntransferablePorts }],
  [
    "Vercel's edge runtime",
    {
      MessageChannel: undefined,
      MessagePort: undefined,
      MessageEvent: undefined,
      CustomEvent: undefined,
    },
  ],
])('connect() needs nothing that %s lacks', async (_, globals) => {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  const remote = await connect({ url: hub.url, secret: hub.secret });
  const client = remote.client();
  expect(await client.query(q.Add(1, 2))).toBe(3);
  // A result of this size is decoded in several turns.
  const many = Array.from({ length: 20_000 }, (__, n) => ({ n }));
  expect(await client.query(many)).toEqual(many);
  const live = new Promise((next, error) => client.subscribe(q.Add(3, 4), { next, error }));
  expect(await live).toBe(7);
  const waiting = client.query(q.Add(5, 6));
  await remote.close();
  await expect(waiting).rejects.toBeInstanceOf(DatabaseClosed);
});

/** What `fetch` throws when nothing listens at the port. */
const REFUSED = {
  Node: [
    new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }),
    'connect ECONNREFUSED.',
  ],
  Deno: [
    new TypeError('fetch failed', { cause: new Error('tcp connect error') }),
    'tcp connect error.',
  ],
  'Deno without a permission': [
    new Error('Requires net access to "hub:80"'),
    'Requires net access to "hub:80".',
  ],
  Bun: [
    new TypeError('Unable to connect. Is the computer able to access the url?'),
    'Unable to connect. Is the computer able to access the url?.',
  ],
  'Cloudflare Workers': [new Error('Network connection lost.'), 'Network connection lost.'],
} as const;

test.each(Object.entries(REFUSED))(
  'the error for an unreachable hub has the reason that %s gives',
  async (_, [thrown, reason]) => {
    vi.stubGlobal('fetch', () => Promise.reject(thrown));
    const remote = await connect({ url: hub.url, secret: hub.secret });
    const failed = remote.client().query(q.Add(1, 2));
    await expect(failed).rejects.toMatchObject({ code: 'hub_unreachable' });
    await expect(failed).rejects.toThrow(`Reason: ${reason}`);
    await remote.close();
  },
);
