import { expect, onTestFinished, test, vi } from 'vitest';
import { utf8Bytes } from '../../src/codec/utf8.ts';
import { ForeignAnswer, RetryLater } from '../../src/sync/device/syncer/transport.ts';
import { SYNC_PROTOCOL } from '../../src/sync/protocol/messages.ts';
import type { PushItem } from '../../src/sync/protocol/writes.ts';
import { createHttpTransport, retryAfterIn } from './http-transport.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

test.each([
  ['3', 3000],
  [' 120 ', 120_000],
  ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
  ['Saturday, 21-Nov-26 12:01:00 GMT', 60_000],
  ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ['soon', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['2026-11-21', undefined],
  ['', undefined],
  [null, undefined],
])('retryAfterIn(%j) is %j', (header, ms) => {
  expect(retryAfterIn(header, NOW)).toBe(ms);
});

const HELLO = { protocol: SYNC_PROTOCOL, device: 'd'.repeat(32), epoch: undefined, lastSeq: 0 };
const WELCOME = {
  ...HELLO,
  epoch: 'e'.repeat(32),
  hubTime: 0,
  idKey: '1d'.repeat(32),
  actor: { database: [], role: 'admin', roles: [] },
};

const itemOf = (query: string): PushItem => ({
  seq: 1,
  hash: 'a'.repeat(64),
  query,
  apiVersion: '4',
  now: 0,
  ids: [],
  digest: undefined,
  idKey: undefined,
});

const transportThat = (answer: () => Response) =>
  createHttpTransport({
    url: 'http://hub',
    token: () => 'secret',
    fetch: () => Promise.resolve(answer()),
    deadlineMs: 1000,
  });

test.each([429, 503])(
  'a %i from another server rejects with RetryLater and the time of its Retry-After header',
  async (status) => {
    const page = () => new Response('<h1>busy</h1>', { status, headers: { 'retry-after': '7' } });
    const reason = await transportThat(page)
      .hello(HELLO)
      .catch((thrown: unknown) => thrown);
    expect(reason).toBeInstanceOf(RetryLater);
    expect(reason).toMatchObject({ retryAfterMs: 7000 });
  },
);

test('the timeout of a push grows with its size', async () => {
  const timeout = vi.spyOn(globalThis, 'setTimeout');
  const transport = transportThat(() => new Response(null, { status: 502 }));
  const push = (query: string): Promise<unknown> =>
    transport
      .push({ device: HELLO.device, epoch: 'e'.repeat(32), items: [itemOf(query)], settled: 0 })
      .catch(() => undefined);
  await push('1');
  await push('x'.repeat(4_000_000));
  const [short = 0, long = 0] = timeout.mock.calls.map(([, ms]) => ms);
  expect(short).toBeLessThan(1100);
  expect(long).toBeGreaterThan(500_000);
  timeout.mockRestore();
});

test('an error response of the hub is a refusal with the time of its Retry-After header', async () => {
  const refusal = { code: 'too many requests', description: 'Too many requests.' };
  const answer = () => Response.json(refusal, { status: 429, headers: { 'retry-after': '2' } });
  expect(await transportThat(answer).hello(HELLO)).toEqual({
    ok: false,
    refusal,
    retryAfterMs: 2000,
  });
});

test('hello() rejects a welcome for another device', async () => {
  const welcomes = (device: string) => transportThat(() => Response.json({ ...WELCOME, device }));
  expect(await welcomes(HELLO.device).hello(HELLO)).toMatchObject({
    ok: true,
    value: { device: HELLO.device },
  });
  await expect(welcomes('a'.repeat(32)).hello(HELLO)).rejects.toThrow('another device');
});

test('hello() rejects a malformed welcome', async () => {
  const transport = transportThat(() => Response.json({ ...WELCOME, lastSeq: 'many' }));
  await expect(transport.hello(HELLO)).rejects.toThrow('hello.lastSeq: expected an integer');
});

test.each([
  ['JSON of another service', { hello: 'world' }],
  ['a welcome for another device', { ...WELCOME, device: 'a'.repeat(32) }],
])('%s rejects with ForeignAnswer, so that the user is told of it', async (_, json) => {
  const { hello } = transportThat(() => Response.json(json));
  await expect(hello(HELLO)).rejects.toBeInstanceOf(ForeignAnswer);
});

test('a 404 or 502 from another server rejects with ForeignAnswer, and a 404 says to check the option `url`', async () => {
  const nowhere = transportThat(() => new Response('404 page not found', { status: 404 }));
  const absent = await nowhere.hello(HELLO).catch((thrown: unknown) => thrown);
  expect(absent).toBeInstanceOf(ForeignAnswer);
  expect(absent).toMatchObject({ message: expect.stringContaining('check the option `url`') });
  const broken = transportThat(() => new Response('oops', { status: 502 }));
  const reason = await broken.hello(HELLO).catch((thrown: unknown) => thrown);
  expect(reason).toBeInstanceOf(ForeignAnswer);
  expect(reason).not.toBeInstanceOf(RetryLater);
});

test('a redirect rejects with ForeignAnswer: the token and the writes go to no other server', async () => {
  const asked: unknown[] = [];
  const { hello } = createHttpTransport({
    url: 'http://hub',
    token: () => 'secret',
    fetch: (_, { redirect } = {}) => {
      asked.push(redirect);
      return Promise.resolve(Response.redirect('https://hub/sync/hello', 308));
    },
    deadlineMs: 1000,
  });
  await expect(hello(HELLO)).rejects.toThrow('redirects to another URL');
  await expect(hello(HELLO)).rejects.toBeInstanceOf(ForeignAnswer);
  expect(asked).toEqual(['manual', 'manual']);
});

test('the page of a captive portal rejects with ForeignAnswer, which says that it is not from a hub', async () => {
  const page = transportThat(() => new Response('<html>Welcome</html>'));
  const reason = await page.hello(HELLO).catch((thrown: unknown) => thrown);
  expect(reason).toBeInstanceOf(ForeignAnswer);
  expect(reason).toMatchObject({ message: 'The response, with status 200, is not from a hub.' });
});

const eventsOf = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } });

test('an HTML page instead of server-sent events causes no hint and no activity', async () => {
  const signs: string[] = [];
  const ended = new Promise<void>((resolve) => {
    transportThat(() => new Response('<html>Welcome</html>')).listen('d', {
      onHint: () => signs.push('hint'),
      onActivity: () => signs.push('activity'),
      onEnd: resolve,
    });
  });
  await ended;
  expect(signs).toEqual([]);
});

test('a device listens by server-sent events where WebSockets are missing or forbidden', async () => {
  const asked: string[] = [];
  const forbids = {
    connect: () => {
      throw new Error('The policy of this page forbids it.');
    },
    offline: new EventTarget(),
  };
  for (const lines of [undefined, forbids]) {
    const poke = new Promise((resolve) => {
      createHttpTransport({
        url: 'http://hub',
        token: () => 'secret',
        fetch: (address) => {
          if (typeof address === 'string') asked.push(address);
          return Promise.resolve(eventsOf(': hello\n\nevent: poke\ndata: {"head":5}\n\n'));
        },
        deadlineMs: 1000,
        ...(lines && { lines }),
      }).listen('d', { onHint: resolve, onActivity: () => undefined, onEnd: () => undefined });
    });
    expect(await poke).toEqual({ head: 5 });
  }
  expect(asked).toEqual(Array.from({ length: 2 }, () => 'http://hub/sync/events?device=d'));
});

test('a push is not sent over a WebSocket that was opened with a former token', async () => {
  let token = 'former';
  let ended = 0;
  const pushed = { lastSeq: 1, verdicts: [] };
  const refused = { code: 'locked', description: 'The credential was revoked.' };
  const socket = new EventTarget();
  const receives = (reply: object) =>
    socket.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(reply) }));
  const send = (text: string) => text.includes('push') && receives({ n: 1, refused });
  const transport = createHttpTransport({
    url: 'http://hub',
    token: () => token,
    fetch: () => Promise.resolve(Response.json(pushed)),
    deadlineMs: 1000,
    lines: {
      connect: () => Object.assign(socket, { send, close: () => undefined }),
      offline: new EventTarget(),
    },
  });
  const events = { onHint: () => undefined, onActivity: () => undefined };
  transport.listen('d', { ...events, onEnd: () => (ended += 1) });
  receives({ opened: true });
  token = 'present';
  const push = { device: 'd', epoch: 'e', settled: 0, items: [] };
  expect(await transport.push(push)).toEqual({ ok: true, value: pushed });
  expect(ended).toBe(1);
});

test('a push that was refused for a former token is sent again with the present one', async () => {
  const pushed = { lastSeq: 1, verdicts: [] };
  const refused = { code: 'locked', description: 'The credential was revoked.' };
  let token = 'former';
  const shown: unknown[] = [];
  const logIn = () => (token = 'present');
  const socket = new EventTarget();
  const receives = (reply: object) =>
    socket.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(reply) }));
  const send = (text: string) => {
    if (!text.includes('push')) return;
    logIn();
    receives({ n: 1, refused });
  };
  const transport = createHttpTransport({
    url: 'http://hub',
    token: () => token,
    fetch: (_address, { headers } = {}) => {
      const { authorization } = headers as Record<string, string>;
      shown.push(authorization);
      if (authorization === 'Bearer present') return Promise.resolve(Response.json(pushed));
      logIn();
      return Promise.resolve(Response.json(refused, { status: 403 }));
    },
    deadlineMs: 1000,
    lines: {
      connect: () => Object.assign(socket, { send, close: () => undefined }),
      offline: new EventTarget(),
    },
  });
  const push = { device: 'd', epoch: 'e', settled: 0, items: [] };
  expect(await transport.push(push)).toEqual({ ok: true, value: pushed });
  expect(shown).toEqual(['Bearer former', 'Bearer present']);
  token = 'former';
  const events = { onHint: () => undefined, onActivity: () => undefined, onEnd: () => undefined };
  transport.listen('d', events);
  receives({ opened: true });
  expect(await transport.push(push)).toEqual({ ok: true, value: pushed });
  expect(shown).toHaveLength(3);
});

const PULL = {
  device: HELLO.device,
  epoch: 'e'.repeat(32),
  cursor: undefined,
  schema: undefined,
  sets: [],
  refetch: [],
  settled: 0,
};
const PULLED = { cursor: 1, more: false, lastSeq: 0, verdicts: [], leaves: [], sets: [] };

/** Pulls what a slow network brings in 100 parts, one for each 100 ms. */
async function pullSlowly(maxBytes: number): Promise<unknown> {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const puts = [[1025, '7', 'x'.repeat(100_000)]];
  const { actor, epoch } = WELCOME;
  const bytes = utf8Bytes(JSON.stringify({ ...PULLED, actor, epoch, puts, check: false }));
  const part = Math.ceil(bytes.length / 100);
  const slow = createHttpTransport({
    url: 'http://hub',
    token: () => 'secret',
    fetch: (_, { signal } = {}) => {
      let at = 0;
      const body = new ReadableStream<Uint8Array>(
        {
          start: (to) => signal?.addEventListener('abort', () => to.error(new Error('Aborted.'))),
          async pull(to) {
            await new Promise((resolve) => void setTimeout(resolve, 100));
            if (signal?.aborted) return;
            to.enqueue(bytes.slice(at, (at += part)));
            if (at >= bytes.length) to.close();
          },
        },
        { highWaterMark: 0 },
      );
      return Promise.resolve(new Response(body));
    },
    deadlineMs: 1000,
  });
  const pulling = slow.pull({ ...PULL, maxBytes }).catch((reason: unknown) => reason);
  await vi.advanceTimersByTimeAsync(20_000);
  return pulling;
}

test('a document that is longer than a pull may be arrives even over a slow connection', async () => {
  expect(await pullSlowly(5000)).toMatchObject({ ok: true });
});

test('a pull that a slow connection does not bring in time fails, so that the next one asks for less', async () => {
  expect(await pullSlowly(50_000)).toMatchObject({ message: 'Aborted.' });
});
