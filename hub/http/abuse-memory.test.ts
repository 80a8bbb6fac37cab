/** What callers can make the hub keep in memory: bodies that do not arrive, answers that nobody reads, large numbers of requests. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import type { HubSettings } from '../settings/settings.ts';
import { metric } from '../testing/metric.ts';
import { dial } from '../testing/raw-connections.ts';
import { openTestHub } from '../testing/test-hub.ts';

const MIB = 1024 * 1024;

afterEach(() => vi.unstubAllGlobals());

const post = (bytes: number, ...headers: string[]) =>
  ['POST / HTTP/1.1', 'host: localhost', `content-length: ${bytes}`, ...headers, '', ''].join(
    '\r\n',
  );

test.each(['no secret', 'a wrong secret'])(
  'eight large bodies that stop before their end, with %s, are refused before they are read',
  async (kind) => {
    const opened = await openTestHub({ settings: { metrics: 'open' } });
    const secret = kind === 'no secret' ? [] : ['authorization: Bearer fnAwrong'];
    const held = Array.from({ length: 8 }, () => dial(opened.port, post(8 * MIB, ...secret)));
    for (const { socket } of held) socket.write(' '.repeat(8 * MIB - 10));
    for (const { received } of held) await expect.poll(received).toContain('401');
    expect((await opened.query({ add: [1, 2] })).body.resource).toBe(3);
    await expect.poll(() => metric(opened, 'body_bytes')).toBe(0);
  },
);

test('before its secret is checked, only the first part of a body without a length is read', async () => {
  const opened = await openTestHub({ settings: { metrics: 'open' } });
  const head = 'POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n';
  const { socket, received } = dial(opened.port, head);
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  for (let i = 0; i < 100; i++) socket.write(chunk);
  await expect.poll(received).toContain('401');
});

test('a large body with a valid secret is answered, with a length and without', async () => {
  const { url, secret } = await openTestHub();
  const text = `{"length":"${'x'.repeat(300_000)}"}`;
  const headers = { authorization: `Bearer ${secret}` };
  const plain = await fetch(url, { method: 'POST', headers, body: text });
  expect(await plain.json()).toEqual({ resource: 300_000 });
  const body = new Blob([text]).stream();
  const init = { method: 'POST', headers, body, duplex: 'half' };
  expect(await (await fetch(url, init)).json()).toEqual({ resource: 300_000 });
});

/** The largest number of bytes that are read from connections of a hub in one turn of the event loop while `work` runs. */
async function mostReadInTurn(work: () => Promise<unknown>): Promise<number> {
  const before = new Map<Socket, number>();
  let [most, isOver] = [0, false];
  const note = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    before.set(socket, socket.bytesRead);
  };
  const look = (): void => {
    let sum = 0;
    for (const [socket, bytes] of before) {
      sum += socket.bytesRead - bytes;
      before.set(socket, socket.bytesRead);
    }
    most = Math.max(most, sum);
    if (!isOver) setImmediate(look);
  };
  subscribe('http.server.request.start', note);
  look();
  await work();
  isOver = true;
  unsubscribe('http.server.request.start', note);
  return most;
}

test.each(['a valid secret', 'a wrong secret'])(
  'a large body with %s is read in small portions, one per turn of the event loop',
  async (kind) => {
    const opened = await openTestHub();
    const secret = kind === 'a valid secret' ? opened.secret : 'fnAwrong';
    const head = post(8 * MIB, `authorization: Bearer ${secret}`);
    let received = '';
    const most = await mostReadInTurn(async () => {
      const dialled = dial(opened.port, head);
      dialled.socket.end(' '.repeat(8 * MIB));
      await once(dialled.socket, 'close');
      received = dialled.received();
    });
    expect(received).toContain(kind === 'a valid secret' ? ' 400 ' : ' 401 ');
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(MIB / 2);
  },
);

/** Chunks of a body that are read while `work` runs: the largest number in one turn of the event loop, and the total. */
async function chunksRead(work: () => Promise<unknown>) {
  const seen = { inTurn: 0, most: 0, all: 0 };
  const watch = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    const emit = request.emit.bind(request);
    request.emit = (name: string, ...given: unknown[]) => {
      if (name === 'data') {
        if (seen.inTurn === 0) setImmediate(() => (seen.inTurn = 0));
        seen.most = Math.max(seen.most, (seen.inTurn += 1));
        seen.all += 1;
      }
      return emit(name, ...given);
    };
  };
  subscribe('http.server.request.start', watch);
  await work();
  unsubscribe('http.server.request.start', watch);
  return seen;
}

test('only some chunks of a body in small chunks are read in one turn of the event loop', async () => {
  const { port, secret } = await openTestHub();
  const text = JSON.stringify('x'.repeat(480_000));
  const head = `POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`;
  const chunks = text.replaceAll(
    /.{1,16}/g,
    (some) => `${some.length.toString(16)}\r\n${some}\r\n`,
  );
  let received = '';
  const { most, all } = await chunksRead(async () => {
    const dialled = dial(port, `${head}${chunks}0\r\n\r\n`);
    await once(dialled.socket, 'close');
    received = dialled.received();
  });
  expect(received).toContain(`{"resource":${text}}`);
  // Some chunks are split again where the connection is read in pieces.
  expect(all).toBeGreaterThanOrEqual(Math.ceil(text.length / 16));
  expect(most).toBeLessThan(5_000);
});

test("bodies from one address fill only this address's share of the memory", async () => {
  const opened = await openTestHub({
    settings: {
      trustedProxies: ['127.0.0.1'],
      bodyBytesInMemory: 4 * MIB,
      bodyBytesPerAddress: 2 * MIB,
      metrics: 'open',
    },
  });
  const { port, url, secret } = opened;
  const authorization = `authorization: Bearer ${secret}`;
  const held = [1, 2, 3, 4].map(() =>
    dial(port, post(MIB, authorization, 'x-forwarded-for: 10.0.0.1') + ' '.repeat(MIB - 10)),
  );
  await expect.poll(() => held.filter(({ received }) => received().includes('429')).length).toBe(2);
  const text = `{"length":"${'x'.repeat(MIB)}"}`;
  const headers = { authorization: `Bearer ${secret}`, 'x-forwarded-for': '10.0.0.2' };
  const other = await fetch(url, { method: 'POST', headers, body: text });
  expect(await other.json()).toEqual({ resource: MIB });
});

test('a body that arrives too slowly is refused long before its deadline', async () => {
  const { port, secret } = await openTestHub({
    settings: { bodyWindowMs: 300, requestMs: 600_000 },
  });
  const { received } = dial(port, `${post(MIB, `authorization: Bearer ${secret}`)}{`);
  await expect.poll(received).toMatch(/^HTTP\/1.1 408[^]*of the body arrived/);
});

test('a body has more time the longer it is, so that slow connections can send it', async () => {
  const { port, secret } = await openTestHub({
    settings: { headerMs: 1000, requestMs: 1200, bodyBytesPerMs: 1, bodyWindowMs: 120_000 },
  });
  const authorization = `authorization: Bearer ${secret}`;
  const text = `{"length":"${'x'.repeat(40_000)}"}`;
  const slow = dial(port, post(text.length, authorization) + text.slice(0, 30_000));
  // Each of these begins later, and is too slow.
  for (let i = 0; i < 2; i++) {
    const { received } = dial(port, `${post(9, authorization)}{`);
    await expect.poll(received, { timeout: 10_000 }).toContain('408');
  }
  slow.socket.write(text.slice(30_000));
  await expect.poll(slow.received).toContain('{"resource":40000}');
});

test('requests that never arrive do not block other requests of their credential', async () => {
  const { port, query, secret } = await openTestHub({ settings: { concurrencyPerCredential: 3 } });
  for (let i = 0; i < 110; i++) dial(port, `${post(9, `authorization: Bearer ${secret}`)}{`);
  for (let i = 0; i < 5; i++) expect((await query(1)).status).toBe(200);
});

test('concurrent requests of one credential are queued and all answered', async () => {
  const { query } = await openTestHub({ settings: { concurrencyPerCredential: 3 } });
  const answers = await Promise.all(Array.from({ length: 250 }, (_, i) => query({ add: [i, 1] })));
  expect(answers.map(({ body }) => body.resource)).toEqual(answers.map((_, i) => i + 1));
});

/** A hub with a route whose answers wait until the test releases them. */
async function openSlow(settings: Partial<HubSettings>) {
  const waiting: (() => void)[] = [];
  const handle = async () => {
    await new Promise<void>((resolve) => void waiting.push(resolve));
    return { status: 200, headers: {}, body: 'done' };
  };
  const opened = await openTestHub({ settings, routes: () => [{ prefix: '/slow/', handle }] });
  return { ...opened, waiting, slow: () => fetch(`${opened.url}/slow/`) };
}

test('concurrent requests from one address over separate connections are all answered', async () => {
  const { slow, waiting } = await openSlow({ concurrencyPerCredential: 110 });
  const asked = Array.from({ length: 110 }, slow);
  await expect.poll(() => waiting.length).toBe(110);
  for (const answer of waiting) answer();
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200));
});

test('requests beyond the queue limit of a credential are refused; other credentials are answered', async () => {
  const { slow, waiting, query } = await openSlow({
    concurrencyPerCredential: 1,
    waitingPerCredential: 2,
  });
  const first = slow();
  await expect.poll(() => waiting.length).toBe(1);
  const rest = [slow(), slow(), slow()];
  const refused = await Promise.race(rest);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect((await query(1)).status).toBe(200);
  for (let done = 0; done < 3; done++) {
    await expect.poll(() => waiting.length).toBe(1);
    waiting.pop()?.();
  }
  const statuses = await Promise.all([first, ...rest].map(async (sent) => (await sent).status));
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 429]);
});

/** A query with an answer of about ten MiB. */
const LONG = JSON.stringify({
  map: { lambda: 'i', expr: 'x'.repeat(1000) },
  collection: Array.from({ length: 10_000 }, () => 0),
});

/** The number of listeners of the signals, and of references that Node keeps to signals combined from them. */
const keptBy = (signals: readonly AbortSignal[]): number =>
  signals.reduce((sum, signal) => {
    const combined = Object.getOwnPropertySymbols(signal).find(
      ({ description }) => description === 'kDependantSignals',
    );
    const kept = combined && (Reflect.get(signal, combined) as { readonly size: number } | null);
    return sum + getEventListeners(signal, 'abort').length + (kept?.size ?? 0);
  }, 0);

test('ended streams leave no listeners behind', async () => {
  const made: AbortSignal[] = [];
  class Noted extends AbortController {
    constructor() {
      super();
      made.push(this.signal);
    }
  }
  vi.stubGlobal('AbortController', Noted);
  const { port, secret, query, url } = await openTestHub({ settings: { metrics: 'open' } });
  await query({ create_collection: { object: { name: 'notes' } } });
  const body = '{"documents":{"collection":"notes"}}';
  const head = post(body.length, `authorization: Bearer ${secret}`).replace('/ ', '/stream ');
  // The signals of the hub, and of requests that have ended.
  const lasting = [...made];
  const before = keptBy(lasting);
  const opened = Array.from({ length: 20 }, () => dial(port, head + body));
  for (const { received } of opened) await expect.poll(received).toContain('"type":"start"');
  for (const { socket } of opened) socket.destroy();
  await expect.poll(() => metric({ url }, 'streams')).toBe(0);
  // Node 26 drops a listener of an ended request, so there may be fewer.
  expect(keptBy(lasting)).toBeLessThanOrEqual(before);
});

test('a response that the client does not read is dropped', async () => {
  const opened = await openTestHub({ settings: { slowReaderMs: 300, metrics: 'open' } });
  const { port, secret } = opened;
  const { socket } = dial(port, post(LONG.length, `authorization: Bearer ${secret}`) + LONG);
  socket.pause();
  await expect.poll(() => metric(opened, 'answer_bytes')).toBeGreaterThan(9 * MIB);
  await expect.poll(() => metric(opened, 'answer_bytes')).toBe(0);
});

test('an HTTP/2 response is dropped when its client cancels it', async () => {
  const opened = await openTestHub({ settings: { metrics: 'open' } });
  const session = connectHttp2(opened.url).on('error', () => undefined);
  const asked = session.request({
    ':method': 'POST',
    ':path': '/',
    authorization: `Bearer ${opened.secret}`,
  });
  asked.on('error', () => undefined).pause();
  asked.end(LONG);
  await expect.poll(() => metric(opened, 'answer_bytes')).toBeGreaterThan(9 * MIB);
  asked.close(constants.NGHTTP2_CANCEL);
  await expect.poll(() => metric(opened, 'answer_bytes'), { timeout: 10_000 }).toBe(0);
  session.destroy();
});

test.each([100, 60_000])(
  'an HTTP/2 response of %i characters that the client does not read is dropped',
  async (chars) => {
    const opened = await openTestHub({ settings: { slowReaderMs: 100, metrics: 'open' } });
    const session = connectHttp2(opened.url, { settings: { initialWindowSize: 0 } });
    session.on('error', () => undefined);
    const authorization = `Bearer ${opened.secret}`;
    const stream = session.request({ ':method': 'POST', ':path': '/', authorization });
    const broken = new Promise((resolve) => stream.once('error', resolve));
    stream.end(JSON.stringify('x'.repeat(chars)));
    expect(String(await broken)).toContain('closed with error code');
    await expect.poll(() => metric(opened, 'answer_bytes')).toBe(0);
    session.destroy();
  },
);

test("unread HTTP/1.1 responses count when the system's buffer is full, and are dropped", async () => {
  const opened = await openTestHub({ settings: { slowReaderMs: 1000, metrics: 'open' } });
  const query = JSON.stringify({
    map: { lambda: 'i', expr: 'x'.repeat(60) },
    collection: Array.from({ length: 900 }, () => 0),
  });
  const ask = post(query.length, `authorization: Bearer ${opened.secret}`) + query;
  const { socket } = dial(opened.port);
  socket.pause();
  let asked = 0;
  const askMore = async (): Promise<number> => {
    const answered = await metric(opened, 'http_requests_total\\{route="query",status="200"\\}');
    if (asked === 0 || answered === asked) {
      socket.write(ask);
      asked += 1;
    }
    return metric(opened, 'answer_bytes');
  };
  await expect.poll(askMore, { interval: 2 }).toBeGreaterThan(0);
  await expect.poll(() => metric(opened, 'answer_bytes')).toBe(0);
});

test('unread HTTP/2 responses count, even if each of them is short', async () => {
  const opened = await openTestHub({
    settings: { slowReaderMs: 600_000, metrics: 'open', answerBytesPerCredential: MIB },
  });
  const session = connectHttp2(opened.url, { settings: { initialWindowSize: 0 } });
  session.on('error', () => undefined);
  const statuses: unknown[] = [];
  for (let n = 0; n < 40; n += 1) {
    const authorization = `Bearer ${opened.secret}`;
    const stream = session.request({ ':method': 'POST', ':path': '/', authorization });
    stream.on('error', () => undefined).on('response', (head) => statuses.push(head[':status']));
    stream.end(JSON.stringify('x'.repeat(60_000)));
  }
  await expect.poll(() => metric(opened, 'answer_bytes')).toBeGreaterThan(MIB / 2);
  expect(await metric(opened, 'answer_bytes')).toBeLessThanOrEqual(MIB);
  // The others are refused. A client that reads gets 40 answers at once.
  await expect.poll(() => new Set(statuses)).toEqual(new Set([200, 503]));
  session.destroy();
  await expect.poll(() => metric(opened, 'answer_bytes')).toBe(0);
});

test('streams with long unread parts break off beyond the limit of their credential', async () => {
  async function* body() {
    yield 'x'.repeat(MIB);
  }
  const opened = await openTestHub({
    settings: { slowReaderMs: 600_000, metrics: 'open', answerBytesPerCredential: 2.5 * MIB },
    routes: () => [
      { prefix: '/parts/', handle: async () => ({ status: 200, headers: {}, body: body() }) },
    ],
  });
  const session = connectHttp2(opened.url, { settings: { initialWindowSize: 0 } });
  session.on('error', () => undefined);
  let brokenOff = 0;
  for (let n = 0; n < 6; n += 1) {
    const authorization = `Bearer ${opened.secret}`;
    const stream = session.request({ ':path': '/parts/', authorization });
    stream.on('error', () => void (brokenOff += 1)).resume();
  }
  await expect.poll(() => metric(opened, 'answer_bytes')).toBe(2 * MIB);
  await expect.poll(() => brokenOff).toBe(4);
  session.destroy();
  await expect.poll(() => metric(opened, 'answer_bytes')).toBe(0);
});

test('a client that does not read responses gets no further long ones; other queries are answered', async () => {
  const opened = await openTestHub({
    settings: { answerBytesPerCredential: 15 * MIB, metrics: 'open', ratePerAddress: 0 },
  });
  const { port, secret, query } = opened;
  const key = await query({ create_key: { object: { role: 'server' } } });
  const { secret: other } = key.body.resource as { readonly secret: string };
  const ask = () => dial(port, post(LONG.length, `authorization: Bearer ${secret}`) + LONG);
  ask().socket.pause();
  await expect.poll(() => metric(opened, 'answer_bytes')).toBeGreaterThan(9 * MIB);
  // The query runs, but its answer exceeds the limit together with the other one.
  await expect.poll(ask().received).toContain('its answer is not sent');
  expect((await query({ add: [1, 2] }, other)).body.resource).toBe(3);
  expect((await query({ add: [1, 2] })).body.resource).toBe(3);
});

test('a page of an allowed origin can read the error that its answer is not sent', async () => {
  const origin = 'https://app.example';
  const opened = await openTestHub({
    settings: { answerBytesPerCredential: 15 * MIB, metrics: 'open', corsOrigins: [origin] },
  });
  const { port, url, secret } = opened;
  const authorization = `Bearer ${secret}`;
  const unread = dial(port, post(LONG.length, `authorization: ${authorization}`) + LONG);
  unread.socket.pause();
  await expect.poll(() => metric(opened, 'answer_bytes')).toBeGreaterThan(9 * MIB);
  const headers = { authorization, origin };
  const answer = await fetch(url, { method: 'POST', headers, body: LONG });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
  expect(answer.headers.get('access-control-expose-headers')).toContain('retry-after');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  // The query has been executed: `storage_blocked` would tell the client that it can be sent again.
  expect(await answer.json()).toMatchObject({
    errors: [
      {
        code: 'storage_unavailable',
        description: expect.stringContaining('its answer is not sent'),
      },
    ],
  });
});

test('a long answer arrives unchanged, whatever characters are at its cuts', async () => {
  const { query } = await openTestHub();
  const text = '𝒳é€'.repeat(60_000);
  expect((await query(text)).body.resource).toBe(text);
  expect((await query([`x${text}`])).body.resource).toEqual([`x${text}`]);
});
