import { randomBytes } from 'node:crypto';
import { connect } from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { request as httpRequest } from 'node:http';
import { expect, test, vi } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { SYNC_PROTOCOL } from '../../src/sync/protocol/messages.ts';
import {
  createThing,
  DEVICE,
  HELLO,
  openSyncTestHub,
  pushItem,
  type SyncTestHub,
} from '../testing/sync-test-hub.ts';

const THINGS = JSON.stringify({ documents: { collection: 'things' } });

const thirtyWrites = () =>
  Array.from({ length: 30 }, (_, n) => pushItem(n + 1, createThing({ n, text: 'x'.repeat(100) })));

test('hello, push, pull and check work over HTTP', async () => {
  const { post, hub } = await openSyncTestHub();
  const { epoch } = hub;
  const exchange = async (path: string, message: unknown) => (await post(path, message)).json();
  expect(await exchange('hello', HELLO)).toMatchObject({
    protocol: SYNC_PROTOCOL,
    epoch,
    lastSeq: 0,
  });
  const contact = { device: DEVICE, epoch };
  expect(await exchange('push', { ...contact, items: thirtyWrites(), settled: 0 })).toMatchObject({
    lastSeq: 30,
  });
  const sets = [{ id: 'a', query: THINGS, loaded: 'nothing' }];
  const pull = { ...contact, sets, refetch: [], settled: 30, maxBytes: 1e6 };
  const pulled = (await exchange('pull', pull)) as { puts: unknown[] };
  expect(pulled.puts).toHaveLength(30);
  const buckets = Array.from({ length: 256 }, () => '0'.repeat(16));
  const check = { ...contact, set: { id: 'a', query: THINGS }, buckets };
  const checked = (await exchange('check', check)) as { differing: { documents: unknown[] }[] };
  expect(checked.differing.flatMap(({ documents }) => documents)).toHaveLength(30);
});

test('refusals have a code and a status', async () => {
  const { url, post, secret, hub } = await openSyncTestHub();
  const refusal = async (path: string, message: unknown, as?: string) => {
    const response = await post(path, message, as);
    return [response.status, ((await response.json()) as { code?: string }).code];
  };
  expect(await refusal('hello', '{')).toEqual([400, 'bad_message']);
  expect(await refusal('hello', [])).toEqual([400, 'bad_message']);
  expect(await refusal('hello', { ...HELLO, protocol: SYNC_PROTOCOL - 1 })).toEqual([
    426,
    'upgrade_needed',
  ]);
  expect(await refusal('hello', HELLO, 'nobody')).toEqual([401, 'needs_login']);
  const epoch = '0'.repeat(32);
  const push = { device: DEVICE, epoch, items: [], settled: 0 };
  expect(await refusal('push', push)).toEqual([409, 'epoch_changed']);
  const items = [pushItem(2, createThing())];
  await post('hello', HELLO);
  expect(await refusal('push', { device: DEVICE, epoch: hub.epoch, items, settled: 0 })).toEqual([
    409,
    'gap',
  ]);
  expect((await post('nothing', {})).status).toBe(404);
  const headers = { authorization: `Bearer ${secret}` };
  expect((await fetch(`${url}/sync/hello`, { headers })).status).toBe(405);
});

test('a refusal of the store reaches the device with its code and its reason', async () => {
  const { post, hub } = await openSyncTestHub();
  const description = 'The disk of the database is full: nothing was stored.';
  const write = vi.spyOn(hub.store, 'write');
  write.mockRejectedValue(new Refusal('quota_exceeded', description));
  const answer = await post('hello', HELLO);
  expect([answer.status, await answer.json()]).toEqual([
    507,
    { code: 'quota_exceeded', description },
  ]);
});

test('a body that is too large is refused in the form of queries, so that the device sends less at a time', async () => {
  const { post } = await openSyncTestHub({ requestBytes: 1024 });
  const answer = await post('hello', ' '.repeat(2000));
  expect([answer.status, await answer.json()]).toMatchObject([
    413,
    { errors: [{ code: 'request too large' }] },
  ]);
});

test('long responses are compressed for clients that accept gzip', async () => {
  const { port, post, secret, hub } = await openSyncTestHub();
  await post('hello', HELLO);
  const message = { device: DEVICE, epoch: hub.epoch, items: thirtyWrites(), settled: 0 };
  const received = await new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve) => {
    const headers = { authorization: `Bearer ${secret}`, 'accept-encoding': 'gzip' };
    const options = { port, path: '/sync/push', method: 'POST', headers };
    const request = httpRequest(options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          encoding: response.headers['content-encoding'],
          bytes: Buffer.concat(parts),
        }),
      );
    });
    request.end(JSON.stringify(message));
  });
  expect(received.encoding).toBe('gzip');
  const text = gunzipSync(received.bytes).toString();
  expect(JSON.parse(text)).toMatchObject({ lastSeq: 30 });
  expect(text.length / received.bytes.length).toBeGreaterThan(3);
});

test('a compressed response counts as unread until it is read', async () => {
  const opened = await openSyncTestHub({ metrics: 'open', slowReaderMs: 600_000 });
  await opened.post('hello', HELLO);
  const text = randomBytes(300_000).toString('base64');
  await opened.query(createThing({ text }));
  const session = connect(opened.url, { settings: { initialWindowSize: 0 } });
  session.on('error', () => undefined);
  const pull = session.request({
    ':method': 'POST',
    ':path': '/sync/pull',
    authorization: `Bearer ${opened.secret}`,
    'accept-encoding': 'gzip',
  });
  pull.on('error', () => undefined);
  const { epoch } = opened.hub;
  const sets = [{ id: 'a', query: THINGS, loaded: 'nothing' }];
  pull.end(JSON.stringify({ device: DEVICE, epoch, sets, refetch: [], settled: 0, maxBytes: 1e6 }));
  const unread = async (): Promise<number> => {
    const metrics = await (await fetch(`${opened.url}/metrics`)).text();
    return Number(/^burrow_answer_bytes (\d+)/m.exec(metrics)?.[1]);
  };
  await expect.poll(unread).toBeGreaterThan(300_000);
  session.destroy();
  await expect.poll(unread).toBe(0);
});

async function* events({ url }: SyncTestHub, secret: string, signal?: AbortSignal) {
  const response = await fetch(`${url}/sync/events?device=${DEVICE}`, {
    headers: { authorization: `Bearer ${secret}` },
    ...(signal && { signal }),
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const decoder = new TextDecoder();
  for await (const part of response.body ?? []) yield decoder.decode(part);
}

test('a commit that touches a set sends a hint, and the stream has a heartbeat', async () => {
  const opened = await openSyncTestHub({}, { heartbeatMs: 50 });
  await opened.post('hello', HELLO);
  const stop = new AbortController();
  const stream = events(opened, opened.secret, stop.signal);
  expect((await stream.next()).value).toContain('hello');
  await opened.query(createThing());
  const received: string[] = [];
  const has = (text: string): boolean => received.some((each) => each.includes(text));
  while (!has('poke') || !has('still')) received.push(String((await stream.next()).value));
  expect(received.join('')).toMatch(/event: poke\ndata: \{"head":\d+\}\n\n/);
  stop.abort();
});

test('A5 a stream ends soon after its credential', async () => {
  const opened = await openSyncTestHub({}, { heartbeatMs: 30 });
  const made = await opened.query({ create_key: { object: { role: 'server' } } });
  const { secret, ref } = made.body.resource as { secret: string; ref: unknown };
  expect((await opened.post('hello', HELLO, secret)).status).toBe(200);
  const stream = events(opened, secret);
  await stream.next();
  await opened.query({ delete: { select: 'ref', from: { get: { singleton: ref } } } });
  const received: string[] = [];
  for await (const text of stream) received.push(text);
  expect(received.join('')).toContain('event: refused');
});

test('V1 a client that sends too many requests gets 429 with Retry-After', async () => {
  const { post } = await openSyncTestHub({ ratePerToken: 1, burstSeconds: 2 });
  const begun = performance.now();
  const responses = await Promise.all(
    Array.from({ length: 40 }, () => post('hello', HELLO, 'fnEofnobody')),
  );
  const seconds = (performance.now() - begun) / 1000;
  const refused = responses.filter(({ status }) => status === 429);
  // Holds however long it took: two at once, and one more per second.
  expect(refused.length).toBeGreaterThanOrEqual(40 - 2 - Math.ceil(seconds));
  expect(new Set(refused.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']));
});
