import { Agent, request as http1 } from 'node:http';
import { connect as http2 } from 'node:http2';
import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { memoryStorage, openTestHub } from '../testing/test-hub.ts';
import type { HubRequest } from './route.ts';

/** Sends one request over HTTP/2 with prior knowledge, as Fauna's driver does. */
function overHttp2(
  url: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const session = http2(url).on('error', reject);
    const stream = session.request(headers, { endStream: body === undefined });
    let status = 0;
    let text = '';
    stream.setEncoding('utf8');
    stream.on('response', (head) => (status = Number(head[':status'])));
    stream.on('data', (part: string) => (text += part));
    stream.on('error', reject);
    stream.on('end', () => {
      session.close();
      resolve({ status, body: text });
    });
    if (body !== undefined) stream.end(body);
  });
}

test('one port answers HTTP/1.1 and HTTP/2 with prior knowledge, whatever the content type', async () => {
  const { url, secret, query } = await openTestHub();
  expect(await query({ add: [1, 2] })).toMatchObject({ status: 200, body: { resource: 3 } });
  const headers = { ':method': 'POST', ':path': '/', authorization: `Bearer ${secret}` };
  const answer = await overHttp2(url, headers, '{"add":[1,2]}');
  expect(answer).toEqual({ status: 200, body: '{"resource":3}' });
  for (const type of ['text/plain', 'nonsense', 'application/x-www-form-urlencoded']) {
    expect((await query(1, secret, { 'content-type': type })).status).toBe(200);
  }
  expect(await overHttp2(url, { ':path': '/ping' })).toMatchObject({ status: 200 });
});

/** Returns everything that is received after sending `head` and `body`, until the connection is closed. */
function overSocket(url: string, head: readonly string[], body: string | Buffer): Promise<string> {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let said = '';
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => (said += part));
    socket.on('error', reject);
    socket.on('close', () => resolve(said));
    socket.write([...head, `Host: ${host}`, `Content-Length: ${body.length}`, '', ''].join('\r\n'));
    socket.write(body);
  });
}

test('an upgrade offer to HTTP/2 on a cleartext port is answered in HTTP/1.1', async () => {
  const { url, secret } = await openTestHub();
  const offer = [
    'Connection: Upgrade, HTTP2-Settings, close',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABk',
  ];
  const key = `Authorization: Bearer ${secret}`;
  const answer = await overSocket(url, ['POST / HTTP/1.1', key, ...offer], '{"add":[1,2]}');
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toContain('{"resource":3}');
});

test('upgrade offers with each request, as Java clients send them, are answered on one connection', async () => {
  const { url, secret } = await openTestHub();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const authorization = `Bearer ${secret}`;
  const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMA' };
  const ports = new Set<number | undefined>();
  const ask = (method: string, path: string, body: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { ...offer, authorization };
      const asked = http1(`${url}${path}`, { method, agent, headers }, (response) => {
        ports.add(response.socket.localPort);
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve(text));
      });
      asked.on('error', reject);
      asked.end(body);
    });
  for (let n = 0; n < 20; n += 1) {
    expect(await ask('POST', '/', `{"add":[${n},1]}`)).toBe(`{"resource":${n + 1}}`);
    expect(await ask('GET', '/ping', '')).toContain('is OK');
  }
  expect(ports.size).toBe(1);
  agent.destroy();
});

test('a request pipelined after an upgrade offer to HTTP/2 is answered too', async () => {
  const { port, secret } = await openTestHub();
  const offer = 'GET /ping HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: h2c';
  const head = `POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}`;
  const next = `${head}\r\nconnection: close\r\ncontent-length: 13\r\n\r\n{"add":[1,2`;
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(`${offer}\r\n\r\n${next}`);
  let answers = '';
  for await (const part of socket) {
    if (answers === '') socket.write(']}');
    answers += String(part);
  }
  expect(answers).toMatch(/is OK[^]*\{"resource":3\}/);
});

test('an expectation other than 100-continue is refused like other errors', async () => {
  const { url, secret } = await openTestHub();
  const description = 'Only 100-continue can be expected.';
  const refused = JSON.stringify({ errors: [{ code: 'bad request', description }] });
  const head = ['POST / HTTP/1.1', `Authorization: Bearer ${secret}`, 'Connection: close'];
  const answer = await overSocket(url, [...head, 'Expect: the-best'], '1');
  expect(answer).toMatch(/^HTTP\/1\.1 417 Expectation Failed\r\n[^]*x-txn-time: /);
  expect(answer.endsWith(refused)).toBe(true);
  expect(await overSocket(url, [...head, 'Expect: 100-Continue'], '1')).toMatch(
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*{"resource":1}/,
  );
  const headers = { ':method': 'POST', ':path': '/', authorization: `Bearer ${secret}` };
  expect(await overHttp2(url, { ...headers, expect: 'the-best' }, '1')).toEqual({
    status: 417,
    body: refused,
  });
});

test('a body that is not UTF-8 is refused as invalid JSON', async () => {
  const { url, secret, query } = await openTestHub();
  const key = `Authorization: Bearer ${secret}`;
  const answer = await overSocket(
    url,
    ['POST / HTTP/1.1', key, 'Connection: close'],
    Buffer.from([0x22, 0xff, 0x22]),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toContain('"invalid expression","description":"Request body is not valid JSON."');
  expect((await query('\u{1F426} \uFFFD')).body).toEqual({ resource: '\u{1F426} \uFFFD' });
});

test('health and ping need no secret, metrics do', async () => {
  const { url, secret } = await openTestHub();
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${url}/ping?scope=node`)).json()).toEqual({
    resource: 'Scope node is OK',
  });
  expect((await fetch(`${url}/metrics`)).status).toBe(401);
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${secret}` } });
  expect(await metrics.text()).toContain('burrow_http_requests_total{route="health",status="200"}');
});

test('health and metrics answer HEAD, and metrics accept a secret by basic authentication', async () => {
  const { url, secret } = await openTestHub();
  const head = await fetch(`${url}/health`, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  const authorization = `Basic ${btoa(`${secret}:`)}`;
  for (const method of ['GET', 'HEAD']) {
    const metrics = await fetch(`${url}/metrics`, { method, headers: { authorization } });
    expect(metrics.status).toBe(200);
    expect(metrics.headers.get('content-type')).toContain('text/plain');
  }
});

test('a response to HEAD does not say that the body has no bytes', async () => {
  const { url, secret } = await openTestHub();
  const headers = { authorization: `Bearer ${secret}` };
  for (const path of ['/', '/ping', '/authorized', '/health', '/metrics', '/nothing']) {
    const { headers: received } = await fetch(url + path, { method: 'HEAD', headers });
    expect(received.get('content-length'), path).not.toBe('0');
  }
});

test('metrics answer 503 while the keys cannot be read', async () => {
  // Without a lease, each request reads from the store.
  const {
    url,
    query,
    hub: opened,
  } = await openTestHub({
    storage: { ...memoryStorage(), lease: undefined },
  });
  const made = await query({ create_key: { object: { role: 'admin' } } });
  const { secret } = made.body.resource as { readonly secret: string };
  const read = vi.spyOn(opened.store, 'read');
  read.mockRejectedValue(new Refusal('storage_unavailable', 'The database cannot be reached.'));
  const headers = { authorization: `Bearer ${secret}` };
  const refused = await fetch(`${url}/metrics`, { headers });
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ errors: [{ code: 'storage_unavailable' }] });
  read.mockRestore();
  expect((await fetch(`${url}/metrics`, { headers })).status).toBe(200);
});

test('an unknown path is answered 404, a wrong method 405', async () => {
  const { url, secret } = await openTestHub();
  const headers = { authorization: `Bearer ${secret}` };
  expect((await fetch(`${url}/nowhere/at/all`, { headers })).status).toBe(404);
  expect((await fetch(`${url}/`, { method: 'DELETE', headers })).status).toBe(405);
  expect((await fetch(`${url}/tokens/self`, { headers: {} })).status).toBe(401);
  expect((await fetch(`${url}/ping`, { method: 'HEAD' })).headers.get('x-txn-time')).toMatch(
    /^\d+$/,
  );
});

test('refusals are formatted for curl, also of unknown paths and invalid headers', async () => {
  const { url } = await openTestHub();
  const ask = async (path: string, headers: Record<string, string>): Promise<string> =>
    (await fetch(url + path, { headers })).text();
  const curl = { 'user-agent': 'curl/8.14.1' };
  const plain = await ask('/nowhere', {});
  expect(plain).toBe('{"errors":[{"code":"not found","description":"Not found"}]}');
  for (const headers of [curl, { 'x-faunadb-formatted-json': '' }]) {
    expect(await ask('/nowhere', headers)).toBe(JSON.stringify(JSON.parse(plain), null, 2));
    expect(await ask('/', { ...headers, 'x-query-timeout': 'soon' })).toMatch(/^{\n  "errors"/);
    expect(await ask('/metrics', headers)).toMatch(/^{\n  "errors"/);
  }
});

test('x-txn-time never decreases, over reads, writes and refusals', async () => {
  const { query } = await openTestHub();
  let last = 0;
  for (let i = 0; i < 50; i++) {
    const answer = await query(
      i % 5 === 0
        ? { create_collection: { object: { name: `c${i}` } } }
        : i % 7 === 0
          ? { no: 1 }
          : 1,
    );
    const time = Number(answer.headers.get('x-txn-time'));
    expect(time).toBeGreaterThanOrEqual(last);
    last = time;
  }
  const ahead = last + 5_000_000;
  const seen = await query(1, undefined, { 'x-last-seen-txn': String(ahead) });
  expect(Number(seen.headers.get('x-txn-time'))).toBeGreaterThanOrEqual(ahead);
  const far = await query(1, undefined, { 'x-last-seen-txn': '9007199254740000' });
  expect(Number(far.headers.get('x-txn-time'))).toBeLessThan(last + 120_000_000);
});

test.each(['HTTP/1.1', 'HTTP/2'])(
  'over %s `isGone` of a request reports that its client has gone',
  async (kind) => {
    let seen: HubRequest | undefined;
    const handle = (request: HubRequest) => {
      seen = request;
      return new Promise<never>(() => undefined);
    };
    const { url, port } = await openTestHub({
      settings: { drainMs: 1 },
      routes: () => [{ prefix: '/wait/', handle }],
    });
    const session = kind === 'HTTP/2' ? http2(url) : undefined;
    const asked = session?.request({ ':path': '/wait/' }) ?? http1({ port, path: '/wait/' }).end();
    asked.on('error', () => undefined);
    await expect.poll(() => seen).toBeDefined();
    expect(seen?.isGone).toBe(false);
    asked.destroy();
    await expect.poll(() => seen?.isGone).toBe(true);
    session?.destroy();
  },
);

test.each(['HTTP/1.1', 'HTTP/2'])(
  'over %s a stream ends if its client left before it began',
  async (kind) => {
    let seen: HubRequest | undefined;
    let [isBegun, isOver] = [false, false];
    const events: AsyncIterable<string> & AsyncIterator<string> = {
      [Symbol.asyncIterator]: () => events,
      next() {
        if (isBegun) return new Promise(() => undefined);
        isBegun = true;
        return Promise.resolve({ done: false, value: ': hello\n\n' });
      },
      async return() {
        isOver = true;
        return { done: true, value: undefined };
      },
    };
    const { url, port } = await openTestHub({
      settings: { metrics: 'open', drainMs: 1, slowReaderMs: 100 },
      routes: () => [
        {
          prefix: '/wait/',
          async handle(request) {
            seen = request;
            await expect.poll(() => request.isGone).toBe(true);
            // `close` is emitted in the turn in which the request is gone, or in the next one.
            await new Promise((resolve) => setImmediate(resolve));
            return { status: 200, headers: {}, body: events };
          },
        },
      ],
    });
    const session = kind === 'HTTP/2' ? http2(url) : undefined;
    const asked = session?.request({ ':path': '/wait/' }) ?? http1({ port, path: '/wait/' }).end();
    asked.on('error', () => undefined);
    await expect.poll(() => seen).toBeDefined();
    asked.destroy();
    await expect.poll(() => isOver).toBe(true);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('burrow_streams 0');
    session?.destroy();
  },
);

test('a mounted route answers and streams, and its stream ends when the client leaves', async () => {
  let isOver = false;
  const { url } = await openTestHub({
    routes: () => [
      {
        prefix: '/sync/',
        async handle(request) {
          if (request.path === '/sync/echo')
            return { status: 200, headers: {}, body: `${request.method} ${request.body}` };
          async function* events() {
            try {
              for (let i = 0; ; i++) {
                yield `data: ${i}\n\n`;
                await new Promise((resolve) => setTimeout(resolve, 5));
              }
            } finally {
              isOver = true;
            }
          }
          return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: events() };
        },
      },
    ],
  });
  const echo = await fetch(`${url}/sync/echo`, { method: 'POST', body: 'hello' });
  expect(await echo.text()).toBe('POST hello');
  const aborter = new AbortController();
  const stream = await fetch(`${url}/sync/events`, { signal: aborter.signal });
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  // nginx, which consumes this header itself, would otherwise buffer several events.
  expect(stream.headers.get('x-accel-buffering')).toBe('no');
  const reader = stream.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('data: 0');
  aborter.abort();
  await expect.poll(() => isOver).toBe(true);
});

test('an event stream reports a commit and ends when the hub stops', async () => {
  const { url, secret, query, close } = await openTestHub();
  await query({ create_collection: { object: { name: 'notes' } } });
  await query({
    create: { ref: { collection: 'notes' }, id: '1' },
    params: { object: { data: { object: { n: 1 } } } },
  });
  const stream = await fetch(`${url}/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' },
    body: '{"ref":{"collection":"notes"},"id":"1"}',
  });
  expect(stream.status).toBe(200);
  let text = '';
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const part of stream.body ?? []) text += decoder.decode(part);
  })();
  await expect.poll(() => text).toContain('"type":"start"');
  await query({
    update: { ref: { collection: 'notes' }, id: '1' },
    params: { object: { data: { object: { n: 2 } } } },
  });
  await expect.poll(() => text).toContain('"type":"version"');
  await close();
  await reading;
});

test('an idle keep-alive connection does not delay the stop', async () => {
  const drainMs = 60_000;
  const { port, close } = await openTestHub({ settings: { drainMs } });
  await new Promise<void>((resolve) => {
    http1(
      { port, path: '/health', agent: undefined, headers: { connection: 'keep-alive' } },
      (answer) => {
        answer.resume().on('end', resolve);
      },
    ).end();
  });
  const begun = performance.now();
  await close();
  expect(performance.now() - begun).toBeLessThan(drainMs / 2);
});
