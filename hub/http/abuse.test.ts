/** Malicious callers: threats T13, T14, T17, T21, and V1 of the design. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { HUB_LIMITS } from '../../src/limits.ts';
import { metric } from '../testing/metric.ts';
import { dial, sockets } from '../testing/raw-connections.ts';
import { openTestHub, type TestHub } from '../testing/test-hub.ts';

const DAWDLING = 500;
const ALL_AT_ONCE = { socketsPerAddress: 1000 };

/** Connections that begin something, each in one of six ways, and then send nothing more. */
function dawdle({ port, secret }: TestHub): void {
  const starts = ['', 'P', 'PO', 'POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n', 'PRI * HTTP/2.0\r\n'];
  const body = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${secret}\r\ncontent-length: 1000\r\n\r\n{`;
  for (let i = 0; i < DAWDLING; i++) dial(port, [...starts, body][i % 6]);
}
const leftOpen = (): number => sockets.filter(({ destroyed }) => !destroyed).length;

test('T13: connections that stop in mid-request do not block other callers', async () => {
  const patient = { ...ALL_AT_ONCE, headerMs: 120_000, requestMs: 120_000 };
  const opened = await openTestHub({ settings: { ...patient, metrics: 'open' } });
  dawdle(opened);
  await expect.poll(() => metric(opened, 'sockets')).toBeGreaterThanOrEqual(DAWDLING);
  for (let i = 0; i < 5; i++)
    expect((await opened.query({ add: [1, i] })).body.resource).toBe(1 + i);
  expect(leftOpen()).toBe(DAWDLING);
});

test('T13: connections that stop in mid-request are closed', async () => {
  dawdle(await openTestHub({ settings: { ...ALL_AT_ONCE, headerMs: 1500, requestMs: 2500 } }));
  await expect.poll(leftOpen).toBe(0);
});

test('T13: connections whose WebSocket offer was refused are closed, even if their clients stay', async () => {
  const opened = await openTestHub({ settings: { metrics: 'open' } });
  const offer =
    'GET /nowhere HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
  const answered = Array.from({ length: 20 }, () => {
    const socket = connect({ port: opened.port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket.resume());
    socket.write(offer);
    return once(socket, 'end');
  });
  await Promise.all(answered);
  await expect.poll(() => metric(opened, 'sockets')).toBeLessThan(20);
});

const PING = 'GET /ping HTTP/1.1\r\nhost: localhost\r\n\r\n';
const PING_ONCE = 'GET /ping HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';

/** Even on a slow machine, no request is ended while its body arrives. */
const PATIENT = { bodyWindowMs: 120_000 };

/** The start of a query that ends with `"add":1}`. */
const begun = ({ secret }: TestHub): string =>
  `POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}\r\ncontent-length: 9\r\n\r\n{`;

test('T13: connections are limited in total and by address', async () => {
  const { port, url } = await openTestHub({ settings: { sockets: 10, socketsPerAddress: 4 } });
  // As many connections may wait as may be open.
  for (let i = 0; i < 12; i++) dial(port);
  await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length).toBe(4);
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(async () => (await fetch(`${url}/health`)).status).toBe(200);
});

test('T13: an idle connection is closed to make room for another of its address', async () => {
  const limits = { ...PATIENT, sockets: 10, socketsPerAddress: 2, keepAliveMs: 120_000 };
  const opened = await openTestHub({ settings: limits });
  const first = dial(opened.port, PING);
  await expect.poll(first.received).toContain('resource');
  const busy = dial(opened.port, begun(opened));
  await once(busy.socket, 'connect');
  const second = dial(opened.port, PING);
  await expect.poll(second.received).toContain('resource');
  await expect.poll(() => first.socket.destroyed).toBe(true);
  const alsoBusy = dial(opened.port, begun(opened));
  await expect.poll(() => second.socket.destroyed).toBe(true);
  // Requests in progress keep their connections, so the third connection waits for one of them.
  const third = dial(opened.port, PING);
  busy.socket.write('"add":1}');
  await expect.poll(third.received).toContain('resource');
  expect(alsoBusy.socket.destroyed).toBe(false);
});

test('T13: a request on an idle connection is answered, even if a new connection arrives with it', async () => {
  const { port } = await openTestHub({ settings: { socketsPerAddress: 1 } });
  const first = dial(port, PING);
  await expect.poll(first.received).toContain('resource');
  const next = dial(port, PING_ONCE);
  first.socket.write(PING);
  await expect.poll(next.received).toContain('resource');
  expect(first.received().match(/resource/g)).toHaveLength(2);
});

test('T13: if no more connections may wait, a connection that becomes idle is closed', async () => {
  const { port } = await openTestHub({ settings: { socketsPerAddress: 1 } });
  const first = dial(port, PING);
  await expect.poll(first.received).toContain('resource');
  const next = [dial(port, PING_ONCE), dial(port, PING_ONCE)];
  for (const { received } of next) await expect.poll(received).toContain('resource');
  expect(first.socket.destroyed).toBe(true);
});

test('T13: many concurrent requests from one address are all answered', async () => {
  const { port } = await openTestHub({ settings: { socketsPerAddress: 10 } });
  const asked = Array.from({ length: 20 }, () => dial(port, PING_ONCE));
  const answered = (): number => asked.filter(({ received }) => /resource/.test(received())).length;
  await expect.poll(answered).toBe(20);
});

test('T13: a connection that waits too long for others of its address is answered 429', async () => {
  const opened = await openTestHub({
    settings: { ...PATIENT, socketsPerAddress: 1, connectionWaitMs: 200 },
  });
  const busy = dial(opened.port, begun(opened));
  await once(busy.socket, 'connect');
  const late = dial(opened.port, PING);
  await expect.poll(() => late.socket.destroyed).toBe(true);
  expect(late.received()).toMatch(/^HTTP\/1.1 429 .*\r\nretry-after: 1\r\n.*"too many requests"/s);
  busy.socket.write('"add":1}');
  await expect.poll(busy.received).toContain('HTTP/1.1 200');
});

/** Requests from 127.0.0.1 count as those of a proxy: they are limited in total only. */
const OTHERS = { trustedProxies: ['127.0.0.1'], metrics: 'open' } as const;

test('T13: waiting connections do not use places of other addresses', async () => {
  const { port, url } = await openTestHub({
    settings: { ...OTHERS, sockets: 3, socketsPerAddress: 2 },
  });
  const dialed = Array.from({ length: 3 }, () => dial(port, '', '127.0.0.2'));
  await Promise.all(dialed.map(({ socket }) => once(socket, 'connect')));
  expect((await fetch(`${url}/health`)).status).toBe(200);
  await expect
    .poll(() => dialed.map(({ socket }) => socket.destroyed))
    .toEqual([false, false, true]);
});

test('T13: while others of its address wait, a connection is closed after its response, with `connection: close`', async () => {
  const opened = await openTestHub({ settings: { ...PATIENT, ...OTHERS, socketsPerAddress: 1 } });
  const busy = dial(opened.port, begun(opened), '127.0.0.2');
  await expect.poll(() => metric(opened, 'sockets')).toBe(2);
  const next = dial(opened.port, PING, '127.0.0.2');
  await expect.poll(() => metric(opened, 'sockets')).toBe(3);
  busy.socket.write('"add":1}');
  await expect.poll(next.received).toContain('resource');
  expect(busy.received()).toMatch(/\r\nconnection: close\r\n/i);
});

test('T13: endless bodies, also compressed ones, are refused', async () => {
  const { port, url, secret } = await openTestHub({ settings: { requestBytes: 1024 * 1024 } });
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
  const send = (body: BodyInit, more: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', headers: { ...headers, ...more }, body });
  const gzip = { 'content-encoding': 'gzip' };
  expect(await (await send(gzipSync('{"add":[1,2]}'), gzip)).json()).toEqual({ resource: 3 });
  // 64 MiB, compressed to 64 KiB.
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
  expect((await send(bomb, gzip)).status).toBe(413);
  expect((await send(gzipSync(Buffer.alloc(512 * 1024, ' ')), gzip)).status).toBe(413);
  expect((await send('no gzip', gzip)).status).toBe(400);
  expect((await send('{}', { 'content-encoding': 'br' })).status).toBe(400);
  expect((await send(' '.repeat(1024 * 1024 + 1))).status).toBe(413);
  const { socket, received } = dial(
    port,
    `POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  const pushing = setInterval(() => socket.write(chunk), 5);
  await expect.poll(received).toContain('413');
  await expect.poll(() => socket.destroyed).toBe(true);
  clearInterval(pushing);
});

test('T13: long headers and long lines are refused', async () => {
  const { port, url } = await openTestHub();
  expect((await fetch(`${url}/ping`, { headers: { 'x-long': 'a'.repeat(7000) } })).status).toBe(
    200,
  );
  expect((await fetch(`${url}/ping`, { headers: { 'x-long': 'a'.repeat(9000) } })).status).toBe(
    431,
  );
  expect((await fetch(`${url}/?q=${'1'.repeat(17_000)}`)).status).toBe(414);
  const { received } = dial(port, `GET / HTTP/1.1\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`);
  await expect.poll(received).toContain('431');
});

test('T13: a stream that the client does not read is ended', async () => {
  const part = 'x'.repeat(64 * 1024);
  let isOver = false;
  async function* endless() {
    try {
      for (;;) yield part;
    } finally {
      isOver = true;
    }
  }
  const { port } = await openTestHub({
    settings: { slowReaderMs: 300 },
    routes: () => [
      { prefix: '/sync/', handle: async () => ({ status: 200, headers: {}, body: endless() }) },
    ],
  });
  const { socket } = dial(port, 'GET /sync/events HTTP/1.1\r\nhost: localhost\r\n\r\n');
  socket.pause();
  await expect.poll(() => isOver).toBe(true);
});

test('T17: requests with an unlisted origin, a foreign host name or from a form are refused', async () => {
  const app = 'https://app.example';
  const { port, url, secret } = await openTestHub({ settings: { corsOrigins: [app] } });
  const authorization = `Bearer ${secret}`;
  const post = (headers: Record<string, string>) =>
    fetch(url, { method: 'POST', headers, body: '{"add":[1,2]}' });
  const mine = await post({ origin: app, authorization });
  expect(mine.status).toBe(200);
  expect(mine.headers.get('access-control-allow-origin')).toBe(app);
  expect(mine.headers.get('access-control-expose-headers')).toContain('x-txn-time');
  for (const origin of [
    'https://evil.example',
    'null',
    `${app}.evil.example`,
    'http://app.example',
  ]) {
    const theirs = await post({ origin, authorization });
    expect(theirs.status).toBe(403);
    expect(theirs.headers.get('access-control-allow-origin')).toBeNull();
    const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin } });
    expect(preflight.status).toBe(403);
    expect(preflight.headers.get('access-control-allow-headers')).toBeNull();
  }
  // A form: no preflight, sent with cookies, without Authorization.
  const form = await post({ 'content-type': 'text/plain', cookie: `secret=${secret}` });
  expect(form.status).toBe(401);
  // DNS rebinding: a name of the attacker that resolves to this machine.
  for (const name of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', '']) {
    const { received } = dial(port, `GET /ping HTTP/1.1\r\nhost: ${name}\r\n\r\n`);
    await expect.poll(received).toMatch(/^HTTP\/1.1 40[03]/);
  }
  for (const name of ['localhost', `127.0.0.1:${port}`, `[::1]:${port}`]) {
    const { received } = dial(port, `GET /ping HTTP/1.1\r\nhost: ${name}\r\n\r\n`);
    await expect.poll(received).toMatch(/^HTTP\/1.1 200/);
  }
});

test('T17: without a list all origins are refused; with * all but null are allowed', async () => {
  const { url } = await openTestHub();
  expect((await fetch(`${url}/ping`, { headers: { origin: 'https://app.example' } })).status).toBe(
    403,
  );
  const other = await openTestHub({ settings: { corsOrigins: ['*'] } });
  const ask = (origin: string) => fetch(`${other.url}/ping`, { headers: { origin } });
  expect((await ask('https://app.example')).status).toBe(200);
  expect((await ask('null')).status).toBe(403);
});

test('T21: no secret is logged, and each log entry stays on its line', async () => {
  const { port, url, query, logged } = await openTestHub();
  const canary = 'canary-secret-0123456789-of-a-caller';
  const headers = { authorization: `Bearer ${canary}`, 'user-agent': `\u001b[31m${canary}` };
  await fetch(`${url}/?q=%22${canary}%22`, { headers: { authorization: `Bearer ${canary}` } });
  await fetch(`${url}/${canary}%0a%7B%22level%22%3A60%7D`, { headers: { 'x-secret': canary } });
  await query({ abort: canary }, canary);
  await query({ login: canary, params: { object: { password: canary } } });
  dial(
    port,
    `GET /${canary} HTTP/1.1\r\nhost: localhost\r\nx-odd: ${headers.authorization}\r\n\r\n`,
  );
  dial(port, `${canary} nonsense\r\n\r\n`);
  await expect.poll(() => logged().split('\n').length).toBeGreaterThan(5);
  expect(logged()).not.toContain(canary);
  for (const line of logged().trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
});

async function tokenSecret(query: TestHub['query']): Promise<string> {
  await query({ create_collection: { object: { name: 'users' } } });
  await query({ create: { ref: { collection: 'users' }, id: '1' }, params: { object: {} } });
  const token = await query({
    create: { tokens: null },
    params: { object: { instance: { ref: { collection: 'users' }, id: '1' } } },
  });
  return (token.body.resource as { readonly secret: string }).secret;
}

test('V1: requests beyond the rate of a token are answered 429 with Retry-After', async () => {
  const { query } = await openTestHub({ settings: { ratePerToken: 1, burstSeconds: 10 } });
  const secret = await tokenSecret(query);
  const begun = performance.now();
  const answers = await Promise.all(Array.from({ length: 200 }, () => query(1, secret)));
  const seconds = (performance.now() - begun) / 1000;
  const refused = answers.filter(({ status }) => status === 429);
  // Holds however long it took: ten at once, and one more per second.
  expect(answers.length - refused.length).toBeLessThanOrEqual(10 + Math.ceil(seconds));
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  expect(refused[0]?.body.errors?.[0]?.code).toBe('too many requests');
  // Other users are not held up, and neither is a key of the operator.
  expect((await query(1)).status).toBe(200);
});

test('V1: a long body that the main thread parses counts as several requests', async () => {
  const { url, query } = await openTestHub({
    settings: { ratePerToken: 0.001, burstSeconds: 5000 },
  });
  const secret = await tokenSecret(query);
  const headers = { authorization: `Bearer ${secret}` };
  const body = JSON.stringify('x'.repeat(10 * HUB_LIMITS.parsedBytesPerRequest));
  const answers = [(await query(1, secret)).status];
  const { status } = await fetch(`${url}/stream`, { method: 'POST', headers, body });
  answers.push((await query(1, secret)).status);
  expect([status, ...answers]).toEqual([400, 200, 429]);
});

test('V1: an address that is refused often is answered late, and the others at once', async () => {
  const { url, close } = await openTestHub({
    settings: {
      ratePerAddress: 0.001,
      burstSeconds: 1000,
      promptRefusalsPerSecond: 2,
      refusalDelayMs: 600_000,
      drainMs: 100,
      trustedProxies: ['127.0.0.1'],
    },
  });
  const statuses: number[] = [];
  const ask = async (address: string): Promise<void> => {
    const { status } = await fetch(`${url}/ping`, { headers: { 'x-forwarded-for': address } });
    statuses.push(status);
  };
  const asked = Promise.allSettled(Array.from({ length: 10 }, () => ask('10.0.0.1')));
  await vi.waitUntil(() => statuses.length === 3);
  for (let i = 0; i < 3; i++) await ask('10.0.0.2');
  expect(statuses).toEqual([200, 429, 429, 200, 429, 429]);
  await close();
  const unanswered = (await asked).filter(({ status }) => status === 'rejected');
  expect(unanswered).toHaveLength(7);
});

test('V1: requests from one address have a rate limit too', async () => {
  const { url } = await openTestHub({
    settings: { ratePerAddress: 1, ratePerToken: 50, burstSeconds: 5 },
  });
  const begun = performance.now();
  const answers = await Promise.all(Array.from({ length: 100 }, () => fetch(`${url}/ping`)));
  const seconds = (performance.now() - begun) / 1000;
  const letIn = answers.filter(({ status }) => status === 200).length;
  expect(letIn).toBeGreaterThanOrEqual(5);
  expect(letIn).toBeLessThanOrEqual(5 + Math.ceil(seconds));
});

test('V1: addresses of one IPv6 network count as one caller', async () => {
  const { url } = await openTestHub({
    settings: { ratePerAddress: 0.001, burstSeconds: 5000, trustedProxies: ['127.0.0.1'] },
  });
  const statusFor = async (address: string): Promise<number> =>
    (await fetch(`${url}/ping`, { headers: { 'x-forwarded-for': address } })).status;
  for (let i = 0; i < 5; i++) expect(await statusFor(`2001:db8::${i}:1`)).toBe(200);
  expect(await statusFor('2001:db8::6:1')).toBe(429);
  expect(await statusFor('2001:db8:0:1::1')).toBe(200);
});
