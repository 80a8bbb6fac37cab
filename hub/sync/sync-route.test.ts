import { gunzipSync } from 'node:zlib';
import { request as httpRequest } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createSyncRoute } from './sync-route.ts';
import { memoryGround } from '../testing/test-hub.ts';
import { createHash } from 'node:crypto';
import { createHubServer } from '../http/create-hub-server.ts';
import { createLogger } from '../monitoring/logger.ts';
import { openHub } from '../instance/open-hub.ts';
import { DEFAULT_LIMITS, DEFAULT_SETTINGS, type HubLimits } from '../settings/settings.ts';
import { hashOf } from '../../src/sync/digest.ts';

const SECRET = 'burrow-root-of-a-test-hub-which-is-known';
const DEVICE = 'd'.repeat(32);
const THINGS = JSON.stringify({ documents: { collection: 'things' } });

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function open(limits: Partial<HubLimits> = {}, heartbeatMs?: number) {
  const settings = {
    ...DEFAULT_SETTINGS,
    rootSecret: SECRET,
    hashCost: 4,
    limits: {
      ...DEFAULT_LIMITS,
      ratePerToken: 0,
      ratePerAddress: 0,
      queryTimeoutDefaultMs: 120_000,
      ...limits,
    },
  };
  const logger = createLogger('silent');
  const hub = await openHub(memoryGround(), settings, () => undefined);
  const route = createSyncRoute(hub, heartbeatMs === undefined ? {} : { heartbeatMs });
  const server = await createHubServer({
    hub,
    settings: { ...settings, tls: undefined },
    logger,
    routes: [route],
  });
  const url = await server.listen(0);
  closers.push(async () => {
    await server.close();
    await hub.close();
  });
  const ask = async (query: unknown, secret = SECRET) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' },
      body: JSON.stringify(query),
    });
    return (await answer.json()) as { resource?: { secret?: string } };
  };
  await ask({ create_collection: { object: { name: 'things' } } });
  return { url, hub, ask };
}

const post = (url: string, path: string, message: unknown, secret = SECRET) =>
  fetch(`${url}/sync/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest());

function item(seq: number, query: unknown) {
  const content = { seq, query: JSON.stringify(query), apiVersion: '4', now: 0, ids: [] };
  return { ...content, hash: hashOf(content, sha256) };
}

const create = (n: number) => ({
  create: { collection: 'things' },
  params: { object: { data: { object: { n, text: 'x'.repeat(100) } } } },
});

const hello = { protocol: 1, device: DEVICE, lastSeq: 0 };

test('hello, push, pull and check over HTTP', async () => {
  const { url, hub } = await open();
  const welcome = await (await post(url, 'hello', hello)).json();
  expect(welcome).toMatchObject({ protocol: 1, epoch: hub.epoch, lastSeq: 0 });
  const contact = { device: DEVICE, epoch: hub.epoch };
  const items = Array.from({ length: 30 }, (_, i) => item(i + 1, create(i)));
  const pushed = await (await post(url, 'push', { ...contact, items, settled: 0 })).json();
  expect(pushed).toMatchObject({ lastSeq: 30 });
  const sets = [{ id: 'a', query: THINGS, loaded: 'nothing' }];
  const pull = { ...contact, sets, refetch: [], settled: 30, maxBytes: 1e6 };
  const pulled = (await (await post(url, 'pull', pull)).json()) as { puts: unknown[] };
  expect(pulled.puts).toHaveLength(30);
  const buckets = Array.from({ length: 256 }, () => '0'.repeat(16));
  const check = { ...contact, set: { id: 'a', query: THINGS }, buckets };
  const checked = (await (await post(url, 'check', check)).json()) as {
    differing: { documents: unknown[] }[];
  };
  expect(checked.differing.flatMap(({ documents }) => documents)).toHaveLength(30);
});

test('refusals have a code and a status', async () => {
  const { url, hub } = await open();
  const status = async (path: string, message: unknown, secret?: string) => {
    const answer = await post(url, path, message, secret);
    return [answer.status, ((await answer.json()) as { code?: string }).code];
  };
  expect(await status('hello', '{')).toEqual([400, 'bad_message']);
  expect(await status('hello', [])).toEqual([400, 'bad_message']);
  expect(await status('hello', { ...hello, protocol: 2 })).toEqual([426, 'upgrade_needed']);
  expect(await status('hello', hello, 'nobody')).toEqual([401, 'needs_login']);
  const epoch = '0'.repeat(32);
  const push = { device: DEVICE, epoch, items: [], settled: 0 };
  expect(await status('push', push)).toEqual([409, 'epoch_changed']);
  const gap = { device: DEVICE, epoch: hub.epoch, items: [item(2, create(1))], settled: 0 };
  await post(url, 'hello', hello);
  expect(await status('push', gap)).toEqual([409, 'gap']);
  expect((await post(url, 'nothing', {})).status).toBe(404);
  expect((await fetch(`${url}/sync/hello`, HEADERS)).status).toBe(405);
});

const HEADERS = { headers: { authorization: `Bearer ${SECRET}` } };

test('long answers are compressed for those who take it', async () => {
  const { url, hub } = await open();
  await post(url, 'hello', hello);
  const contact = { device: DEVICE, epoch: hub.epoch };
  const items = Array.from({ length: 30 }, (_, i) => item(i + 1, create(i)));
  const body = JSON.stringify({ ...contact, items, settled: 0 });
  const { port } = new URL(url);
  const answer = await new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve) => {
    const headers = { ...HEADERS.headers, 'accept-encoding': 'gzip' };
    const options = { port, path: '/sync/push', method: 'POST', headers };
    const asked = httpRequest(options, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          encoding: response.headers['content-encoding'],
          bytes: Buffer.concat(parts),
        }),
      );
    });
    asked.end(body);
  });
  expect(answer.encoding).toBe('gzip');
  const text = gunzipSync(answer.bytes).toString();
  expect(JSON.parse(text)).toMatchObject({ lastSeq: 30 });
  expect(text.length / answer.bytes.length).toBeGreaterThan(3);
});

async function* events(url: string, secret = SECRET, stop = new AbortController()) {
  const answer = await fetch(`${url}/sync/events?device=${DEVICE}`, {
    headers: { authorization: `Bearer ${secret}` },
    signal: stop.signal,
  });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  const decoder = new TextDecoder();
  if (!answer.body) return;
  for await (const part of answer.body) yield decoder.decode(part);
}

test('a commit that touches a set is poked, and the stream has a heartbeat', async () => {
  const { url, ask } = await open({}, 50);
  await post(url, 'hello', hello);
  const stop = new AbortController();
  const stream = events(url, SECRET, stop);
  expect((await stream.next()).value).toContain('hello');
  await ask(create(1));
  const heard: string[] = [];
  while (
    !heard.some((text) => text.includes('poke')) ||
    !heard.some((text) => text.includes('still'))
  )
    heard.push(String((await stream.next()).value));
  expect(heard.join('')).toMatch(/event: poke\ndata: \{"head":\d+\}\n\n/);
  stop.abort();
});

test('A5 a stream ends soon after its credential', async () => {
  const { url, ask } = await open({}, 30);
  const key = await ask({ create_key: { object: { role: 'server' } } });
  const secret = key.resource?.secret ?? '';
  expect((await post(url, 'hello', hello, secret)).status).toBe(200);
  const stream = events(url, secret);
  await stream.next();
  await ask({ delete: { select: 'ref', from: { get: { singleton: keyRef(key.resource) } } } });
  const heard: string[] = [];
  for await (const text of stream) heard.push(text);
  expect(heard.join('')).toContain('event: refused');
});

const keyRef = (key: unknown): unknown => (key as { ref: unknown }).ref;

test('V1 who asks too often is told when to come again', async () => {
  const { url } = await open({ ratePerToken: 1, burstSeconds: 2 });
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => post(url, 'hello', hello, 'fnEofnobody')),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.headers.get('retry-after')).not.toBeNull();
});
