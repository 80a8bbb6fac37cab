/** Many requests on one connection: pipelined, with offers of upgrades, reset. */
import { createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { connect as connectHttp2, Http2ServerRequest, type ClientHttp2Session } from 'node:http2';
import { connect, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { answerText } from '../../src/http/message.ts';
import type { HubRoute } from '../http/route.ts';
import { DEFAULT_SETTINGS } from '../settings/settings.ts';
import { makeCertificate } from '../testing/certificate.ts';
import { openTestHub } from '../testing/test-hub.ts';

let socket: Socket | undefined;
const sessions: ClientHttp2Session[] = [];
afterEach(() => {
  socket?.destroy();
  for (const session of sessions.splice(0)) session.destroy();
});

/** Sends all of it at once. Resolves with what was received when the connection has ended. */
function flood(port: number, text: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    socket = connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .on('data', (part) => (received += String(part)))
      .on('close', () => resolve(received));
    socket.write(text);
  });
}

const answersIn = (received: string): number => received.split('HTTP/1.1 ').length - 1;

test('a connection with thousands of pipelined requests is closed', async () => {
  const hub = await openTestHub();
  const received = await flood(hub.port, PING.repeat(20_000));
  expect(answersIn(received)).toBeLessThan(100);
  expect((await hub.query(1)).status).toBe(200);
});

/** Counts the requests that Node's servers begin. */
function countRequests(): () => number {
  let made = 0;
  const count = (): void => void (made += 1);
  subscribe('http.server.request.start', count);
  onTestFinished(() => void unsubscribe('http.server.request.start', count));
  return () => made;
}

const PING = 'GET /ping HTTP/1.1\r\nhost: localhost\r\n\r\n';

test('only a few of thousands of pipelined requests in one chunk are executed', async () => {
  const hub = await openTestHub();
  const made = countRequests();
  await flood(hub.port, PING.repeat(20_000));
  expect(made()).toBeGreaterThan(0);
  expect(made()).toBeLessThan(200);
});

test('only a few of thousands of pipelined requests on a used connection are executed', async () => {
  const hub = await openTestHub();
  const made = countRequests();
  const flooding = flood(hub.port, PING);
  socket?.once('data', () => socket?.write(PING.repeat(20_000)));
  await flooding;
  expect(made()).toBeGreaterThan(1);
  expect(made()).toBeLessThan(200);
});

test.each([
  ['cleartext', undefined],
  ['TLS', makeCertificate()],
])(
  'of requests on many used connections of an address (%s), only some are parsed in one turn of the event loop',
  async (_, tls) => {
    const hub = await openTestHub({ ...(tls && { tls }) });
    const connections = Array.from({ length: 100 }, () =>
      tls
        ? connectTls({ port: hub.port, host: '127.0.0.1', ca: tls.cert })
        : connect(hub.port, '127.0.0.1'),
    );
    onTestFinished(() => connections.forEach((each) => each.destroy()));
    const received = connections.map(() => '');
    connections.forEach((each, at) => each.on('data', (part) => (received[at] += String(part))));
    const haveAnswers = (count: number) => () =>
      expect(received.map(answersIn)).toEqual(received.map(() => count));
    for (const each of connections) each.write(PING);
    await vi.waitFor(haveAnswers(1), 20_000);
    const perTurn = [0];
    const count = (): void => {
      if (perTurn.at(-1) === 0) setImmediate(() => perTurn.push(0));
      perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1;
    };
    subscribe('http.server.request.start', count);
    onTestFinished(() => void unsubscribe('http.server.request.start', count));
    for (const each of connections) each.write(PING.repeat(20));
    await vi.waitFor(haveAnswers(21), 20_000);
    expect(perTurn.reduce((sum, made) => sum + made, 0)).toBe(2000);
    // Some connections are read before the others wait, and some of those continue in the same turn.
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(400);
  },
);

test('bodies that are half sent while their address floods the hub are read completely', async () => {
  const hub = await openTestHub();
  const text = JSON.stringify('a'.repeat(300_000));
  const head = `POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${hub.secret}\r\nconnection: close\r\ncontent-length: ${text.length}\r\n\r\n`;
  const bodies = Array.from({ length: 10 }, () => connect(hub.port, '127.0.0.1'));
  const answers = bodies.map(textOf);
  for (const body of bodies) body.write(head + text.slice(0, 1000));
  const made = countRequests();
  const floods = Array.from({ length: 20 }, () => connect(hub.port, '127.0.0.1').resume());
  onTestFinished(() => [...bodies, ...floods].forEach((each) => each.destroy()));
  for (const each of floods) each.write(PING.repeat(20));
  await vi.waitFor(() => expect(made()).toBeGreaterThanOrEqual(64));
  for (const body of bodies) body.write(text.slice(1000));
  for (const each of floods) each.write(PING.repeat(20));
  for (const answer of await Promise.all(answers)) expect(answer).toContain(`{"resource":${text}}`);
});

test('a large first chunk is answered completely', async () => {
  const hub = await openTestHub();
  const text = JSON.stringify('a'.repeat(40_000));
  const head = `POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${hub.secret}\r\nconnection: close\r\ncontent-length: ${text.length}\r\n\r\n`;
  expect(await flood(hub.port, head + text)).toContain(`{"resource":${text}}`);
});

test('new connections of an address that repeatedly floods the hub wait for a while', async () => {
  // Those that wait are refused at once.
  const hub = await openTestHub({ settings: { connectionWaitMs: 1 } });
  const { port } = hub;
  const isServed = async (): Promise<boolean> => {
    const ping = 'GET /ping HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
    return (await flood(port, ping)).startsWith('HTTP/1.1 200 ');
  };
  const pings = PING.repeat(500);
  // A single flood is tolerated.
  await flood(port, pings);
  expect(await isServed()).toBe(true);
  for (let floods = 1; await isServed(); floods += 1) {
    expect(floods).toBeLessThan(100);
    await flood(port, pings);
  }
  await expect.poll(isServed, { timeout: 20_000 }).toBe(true);
});

test('a few pipelined requests are answered in order', async () => {
  const hub = await openTestHub();
  const ask = (n: number) =>
    `GET /?q=${n} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${hub.secret}\r\n\r\n`;
  const last = 'GET /ping HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
  const received = await flood(hub.port, [1, 2, 3, 4, 5, 6, 7, 8].map(ask).join('') + last);
  expect([...received.matchAll(/"resource":(\d)/g)].map(([, n]) => n).join('')).toBe('12345678');
  expect(answersIn(received)).toBe(9);
});

test('a connection with repeated upgrade offers to HTTP/2 is closed', async () => {
  const hub = await openTestHub();
  const offer =
    'GET /ping HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n';
  expect(answersIn(await flood(hub.port, offer.repeat(5_000)))).toBeLessThanOrEqual(1);
});

/**
 * Begins streams and resets them, `atOnce` per turn, until the session has ended. Resolves with the error of a request that was
 * begun before them.
 */
async function resetStreams(url: string, atOnce: number): Promise<unknown> {
  const session = connectHttp2(url);
  session.on('error', () => undefined);
  await once(session, 'connect');
  const failure = new Promise((resolve) =>
    session.request({ ':path': '/count/' }).on('error', resolve),
  );
  while (!session.destroyed) {
    const streams = Array.from({ length: atOnce }, () => session.request({ ':path': '/count/' }));
    for (const stream of streams) stream.on('error', () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    for (const stream of streams) stream.close(8);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return failure;
}

test.each([20, 500])(
  'an HTTP/2 session that repeatedly resets streams is ended with an error, %i at once',
  async (atOnce) => {
    let served = 0;
    const handle = () => {
      served += 1;
      return new Promise<never>(() => undefined);
    };
    const hub = await openTestHub({
      settings: { drainMs: 1 },
      routes: () => [{ prefix: '/count/', handle }],
    });
    // Without an error, code that awaits the response would wait for ever.
    expect(String(await resetStreams(hub.url, atOnce))).toMatch(/closed with error code/);
    expect(served).toBeLessThan(200);
    expect((await hub.query(1)).status).toBe(200);
  },
);

/** A route `/count/`, and how many requests it has answered. */
function countServed() {
  const seen = { served: 0 };
  const handle = () => Promise.resolve(answerText(200, {}, String((seen.served += 1))));
  const routes = (): readonly HubRoute[] => [{ prefix: '/count/', handle }];
  return { seen, routes };
}

/** A connection to HTTP/2 whose first chunk begins this many streams. Each is reset at once if `areReset`. */
function firstChunk(streams: number, areReset: boolean): Buffer {
  const frame = (type: number, flags: number, stream: number, body: Buffer): Buffer => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(body.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, body]);
  };
  // `:method GET`, `:scheme http`, `:authority` and `:path`.
  const fields = Buffer.from('\x82\x86\x01\x09localhost\x04\x07/count/', 'latin1');
  const parts = Array.from({ length: streams }, (_, n) => [
    frame(1, 5, 2 * n + 1, fields),
    ...(areReset ? [frame(3, 0, 2 * n + 1, Buffer.from([0, 0, 0, 8]))] : []),
  ]).flat();
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  return Buffer.concat([preface, frame(4, 0, 0, Buffer.alloc(0)), ...parts]);
}

test.each([true, false])(
  'an HTTP/2 session whose first bytes begin too many streams is ended before any of them (reset: %s)',
  async (areReset) => {
    const { seen, routes } = countServed();
    const { requestsPerSession, streamsPerCredential } = DEFAULT_SETTINGS;
    const most = requestsPerSession + streamsPerCredential;
    const hub = await openTestHub({ routes });
    const received = await flood(hub.port, firstChunk(2 * most, areReset));
    // The last frame is GOAWAY with ENHANCE_YOUR_CALM.
    expect(received.endsWith('\0\0\0\0\0\0\0\v')).toBe(true);
    expect(seen.served).toBe(0);
    expect((await hub.query(1)).status).toBe(200);
  },
);

test('an HTTP/2 session whose first bytes begin as many streams as it may have is served', async () => {
  const { seen, routes } = countServed();
  const hub = await openTestHub({ routes });
  socket = connect(hub.port, '127.0.0.1').on('error', () => undefined);
  socket.write(firstChunk(100, false));
  await expect.poll(() => seen.served).toBe(100);
});

/** A route whose requests take 4 ms each. Counts how many are begun in each turn of the event loop. */
function countPerTurn() {
  const perTurn = [0];
  const handle = async () => {
    if (perTurn.at(-1) === 0) setImmediate(() => perTurn.push(0));
    perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1;
    for (const until = performance.now() + 4; performance.now() < until;);
    return answerText(200, {}, 'done');
  };
  return { perTurn, handle };
}

test('only a few of many concurrent requests begin in one turn of the event loop', async () => {
  const { perTurn, handle } = countPerTurn();
  const hub = await openTestHub({ routes: () => [{ prefix: '/slow/', handle }] });
  const session = connectHttp2(hub.url);
  await once(session, 'connect');
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async () => {
      const stream = session.request({ ':path': '/slow/' });
      const [headers] = (await once(stream.resume(), 'response')) as [Record<string, unknown>];
      return headers[':status'];
    }),
  );
  session.destroy();
  expect(statuses).toEqual(statuses.map(() => 200));
  expect(perTurn.reduce((sum, count) => sum + count, 0)).toBe(60);
  // Sixteen are begun as they arrive, and some of the waiting ones in the same turn.
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(20);
});

test('only a few of many concurrent WebSockets are opened in one turn of the event loop', async () => {
  let [served, inTurn, most] = [0, 0, 0];
  const serve = async (): Promise<void> => {
    if (inTurn === 0) setImmediate(() => (inTurn = 0));
    most = Math.max(most, (inTurn += 1));
    served += 1;
  };
  const handle = async () => answerText(200, {}, '');
  const webSocket = { path: '/line/line', serve };
  const hub = await openTestHub({ routes: () => [{ prefix: '/line/', handle, webSocket }] });
  const { port } = hub;
  const offers = Array.from(
    { length: 100 },
    () => new WebSocket(`ws://127.0.0.1:${port}/line/line`),
  );
  await Promise.all(offers.map((each) => once(each, 'close')));
  expect(served).toBe(100);
  expect(most).toBeLessThanOrEqual(20);
});

test('a request that is reset while it is queued is never begun', async () => {
  const { perTurn, handle } = countPerTurn();
  const hub = await openTestHub({ routes: () => [{ prefix: '/slow/', handle }] });
  const session = connectHttp2(hub.url);
  session.on('error', () => undefined);
  await once(session, 'connect');
  const streams = Array.from({ length: 60 }, () => session.request({ ':path': '/slow/' }));
  const [first, ...others] = streams;
  for (const stream of streams) stream.on('error', () => undefined);
  if (first) await once(first.resume(), 'response');
  session.destroy();
  for (const stream of others) if (!stream.closed) await once(stream, 'close');
  expect((await hub.query(1)).status).toBe(200);
  expect(perTurn.reduce((sum, count) => sum + count, 0)).toBeLessThan(60);
});

test('an idle HTTP/2 session is closed, also after a request that took longer than it may be idle', async () => {
  const IDLE_MS = 50;
  const handle = () => delay(4 * IDLE_MS, answerText(200, {}, 'done'));
  const hub = await openTestHub({
    routes: () => [{ prefix: '/slow/', handle }],
    settings: { headerMs: IDLE_MS, sessionIdleMs: IDLE_MS },
  });
  const session = connectHttp2(hub.url);
  const closed = once(session, 'close');
  const [headers] = (await once(session.request({ ':path': '/slow/' }).resume(), 'response')) as [
    Record<string, unknown>,
  ];
  expect(headers[':status']).toBe(200);
  await closed;
});

/** Timers of this length that are set and neither ended nor cleared, until the test has ended. */
function timersOf(ms: number): ReadonlySet<number> {
  const timers = new Set<number>();
  const hook = createHook({
    init(id, type, _, timer: { readonly _idleTimeout?: number }) {
      if (type === 'Timeout' && timer._idleTimeout === ms) timers.add(id);
    },
    destroy: (id) => void timers.delete(id),
  });
  onTestFinished(() => void hook.disable());
  hook.enable();
  return timers;
}

test('an HTTP/2 session that was closed leaves no timer, which would keep it in memory', async () => {
  const IDLE_MS = 54_321;
  const hub = await openTestHub({ settings: { headerMs: IDLE_MS, sessionIdleMs: IDLE_MS } });
  const timers = timersOf(IDLE_MS);
  for (const end of ['close', 'destroy'] as const) {
    const session = connectHttp2(hub.url);
    const [headers] = (await once(session.request({ ':path': '/ping' }).resume(), 'response')) as [
      Record<string, unknown>,
    ];
    expect(headers[':status']).toBe(200);
    expect(timers.size).toBeGreaterThan(0);
    const closed = once(session, 'close');
    session[end]();
    await closed;
    await vi.waitFor(() => expect(timers.size).toBe(0), 10_000);
  }
});

test('an HTTP/2 session survives some reset streams', async () => {
  const hub = await openTestHub();
  const session = connectHttp2(hub.url);
  for (let i = 0; i < 20; i++) {
    const stream = session.request({ ':method': 'POST', ':path': '/' });
    stream.on('error', () => undefined);
    stream.write('{');
    await new Promise<void>((resolve) => {
      stream.once('close', resolve);
      setImmediate(() => stream.close(8));
    });
  }
  const stream = session.request({ ':path': '/ping' });
  const status = await new Promise((resolve) =>
    stream.once('response', (headers) => resolve(headers[':status'])),
  );
  expect(status).toBe(200);
  session.destroy();
});

test('an HTTP/2 session may end any number of event streams that have begun', async () => {
  const settings = { resetsAtOnce: 2, resetsPerSecond: 1 };
  const hub = await openTestHub({ settings, routes: () => [openRoute] });
  const session = connectHttp2(hub.url).on('error', () => undefined);
  sessions.push(session);
  for (let n = 0; n < 6; n += 1) {
    const stream = session.request({ ':path': '/open/' }).resume();
    await once(stream, 'response');
    stream.close(8);
    await once(stream, 'close');
  }
  const ping = session.request({ ':path': '/ping' }).resume();
  const [headers] = (await once(ping, 'response')) as [Record<string, unknown>];
  expect(headers[':status']).toBe(200);
});

/** Begins `count` requests on one session. Resolves with the result of each: its status, or its error. */
async function beginOnOneSession(url: string, count: number): Promise<readonly string[]> {
  const session = connectHttp2(url);
  sessions.push(session);
  session.on('error', () => undefined);
  await once(session, 'connect');
  const begin = (): Promise<string> =>
    new Promise((resolve) => {
      const stream = session.request({ ':path': '/open/' });
      stream.on('error', (reason) => resolve(String(reason)));
      stream.on('response', (headers) => resolve(String(headers[':status'])));
      stream.on('close', () => resolve('closed without an error'));
    });
  return Promise.all(Array.from({ length: count }, begin));
}

/** A route whose responses do not end by themselves. */
const openRoute: HubRoute = {
  prefix: '/open/',
  async handle({ signal }) {
    async function* body() {
      yield 'begun';
      await once(signal, 'abort');
    }
    return { status: 200, headers: {}, body: body() };
  },
};

test('event streams of one session beyond the limit of their credential are refused', async () => {
  const hub = await openTestHub({ settings: { drainMs: 1 }, routes: () => [openRoute] });
  const begun = await beginOnOneSession(hub.url, 260);
  expect(begun.filter((status) => status === '200')).toHaveLength(250);
  expect(begun.filter((status) => status === '429')).toHaveLength(10);
});

test('streams of one address are counted over all its sessions', async () => {
  // Ten for each of three connections, and the 100 of a credential.
  const limits = { requestsPerSession: 10, socketsPerAddress: 3, streamsPerCredential: 100 };
  const hub = await openTestHub({ settings: { ...limits, drainMs: 1 }, routes: () => [openRoute] });
  expect(new Set(await beginOnOneSession(hub.url, 90))).toEqual(new Set(['200']));
  expect(new Set(await beginOnOneSession(hub.url, 10))).toEqual(new Set(['200']));
  const refused = await beginOnOneSession(hub.url, 90);
  expect(refused.join()).toMatch(/NGHTTP2_ENHANCE_YOUR_CALM/);
});

test('a request with two Host headers is refused', async () => {
  const hub = await openTestHub();
  const text =
    'GET /ping HTTP/1.1\r\nhost: localhost\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n';
  expect(await flood(hub.port, text)).toMatch(/^HTTP\/1.1 400 /);
  // Only names of headers count.
  const value = text.replace('host: 127.0.0.1', 'x-note: host');
  expect(await flood(hub.port, value)).toMatch(/^HTTP\/1.1 200 /);
});

/** The number of parts of request bodies that Node creates while `work` runs. */
async function partsMade(work: () => Promise<unknown>): Promise<number> {
  let made = 0;
  // oxlint-disable-next-line typescript/unbound-method
  const { push } = Readable.prototype;
  const spy = vi.spyOn(Readable.prototype, 'push').mockImplementation(function (
    this: Readable,
    ...part
  ) {
    if (this instanceof IncomingMessage || this instanceof Http2ServerRequest) made += 1;
    return push.apply(this, part);
  });
  await work();
  spy.mockRestore();
  return made;
}

/** Bytes that Node passes to the parsers of connections that are closed already, while `work` runs. */
async function bytesAfterClosing(work: () => Promise<unknown>): Promise<number> {
  let bytes = 0;
  // oxlint-disable-next-line typescript/unbound-method
  const { emit } = Socket.prototype;
  const spy = vi.spyOn(Socket.prototype, 'emit').mockImplementation(function (
    this: Socket,
    ...event: Parameters<Socket['emit']>
  ) {
    const [name, part] = event as readonly unknown[];
    if (name === 'data' && this.destroyed) bytes += (part as Buffer).length;
    return emit.apply(this, event);
  });
  await work();
  spy.mockRestore();
  return bytes;
}

const CHUNKED = 'HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n';

test.each([
  ['a query without a secret', `POST / ${CHUNKED}`],
  ['a query with a secret', `POST / ${CHUNKED}authorization: Bearer SECRET\r\n`],
  ['a request whose body nobody reads', `GET /ping ${CHUNKED}`],
])('%s: the connection is closed if its body comes in chunks of one byte', async (_, head) => {
  const hub = await openTestHub();
  const { port, secret } = hub;
  const text = `${head.replace('SECRET', secret)}\r\n${'1\r\n \r\n'.repeat(60_000)}`;
  expect(await partsMade(() => flood(port, text))).toBeLessThan(5_000);
  expect((await hub.query(1)).status).toBe(200);
});

test.each([
  ['a body in chunks of one byte', `POST / ${CHUNKED}\r\n${'1\r\n \r\n'.repeat(60_000)}`],
  ['pipelined requests', PING.repeat(20_000)],
])('%s: what the hub has read is not parsed once the connection is closed', async (_, text) => {
  const { port } = await openTestHub();
  expect(await bytesAfterClosing(() => flood(port, text))).toBe(0);
});

test('a body in thousands of small chunks is answered', async () => {
  const hub = await openTestHub();
  const text = JSON.stringify('x'.repeat(2000));
  const chunks = text.replaceAll(/./g, (char) => `1\r\n${char}\r\n`);
  const head = `POST / ${CHUNKED}connection: close\r\nauthorization: Bearer ${hub.secret}\r\n\r\n`;
  expect(await flood(hub.port, `${head}${chunks}0\r\n\r\n`)).toContain(`{"resource":${text}}`);
});

/** Sends a body in frames of one byte until its stream has failed. */
async function sendBytewise(url: string, secret: string): Promise<ClientHttp2Session> {
  const session = connectHttp2(url);
  session.on('error', () => undefined);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/',
    authorization: `Bearer ${secret}`,
  });
  const failed = new Promise((resolve) => stream.on('error', resolve));
  while (!stream.destroyed) {
    stream.write(' ');
    // Node sends everything that is written in one turn in a single frame.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await failed;
  return session;
}

test('an HTTP/2 session with a body in frames of one byte is ended', async () => {
  const hub = await openTestHub();
  const { url, secret } = hub;
  let session: ClientHttp2Session | undefined;
  const made = await partsMade(async () => (session = await sendBytewise(url, secret)));
  expect(made).toBeLessThan(5_000);
  await expect.poll(() => session?.destroyed).toBe(true);
});

test('a trusted proxy loses only the stream with a body in frames of one byte', async () => {
  const hub = await openTestHub({ settings: { trustedProxies: ['127.0.0.1'] } });
  const session = await sendBytewise(hub.url, hub.secret);
  const ping = session.request({ ':path': '/ping' });
  const answered = await new Promise((resolve, reject) => {
    ping.on('response', resolve);
    ping.on('error', reject);
  });
  expect(answered).toMatchObject({ ':status': 200 });
  session.destroy();
});
