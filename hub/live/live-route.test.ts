/** Live queries over HTTP: what is sent at which time, and what is refused. */
import { afterEach, expect, test } from 'vitest';
import { metric } from '../testing/metric.ts';
import { dial } from '../testing/raw-connections.ts';
import { Refusal } from '../../src/errors.ts';
import {
  memoryStorage,
  openTestHub,
  type TestHub,
  type TestHubOptions,
} from '../testing/test-hub.ts';
import { createLiveRoute } from './live-route.ts';
import { DEFAULT_SETTINGS } from '../settings/settings.ts';

const MIB = 1024 * 1024;
const TOLD = /data: (\d+) (\d+) (\S+)\ndata: (.*)\n\n/g;

const readers: Reader[] = [];
afterEach(() => {
  for (const reader of readers.splice(0)) reader.stop();
});

async function open(
  settings: TestHubOptions['settings'] = {},
  storage = memoryStorage(),
): Promise<TestHub> {
  const hub = await openTestHub({
    storage,
    settings: { metrics: 'open', ...settings },
    routes: (opened) => [createLiveRoute(opened, { ...DEFAULT_SETTINGS, ...settings })],
  });
  await hub.query({ create_collection: { object: { name: 'notes' } } });
  return hub;
}

/** Reads one stream of live queries and keeps everything it receives. */
class Reader {
  readonly response: Promise<Response>;
  text = '';
  isOver = false;
  private readonly stopped = new AbortController();

  constructor(
    { url, secret }: TestHub,
    queries: readonly (object | { query: string; told: string })[],
    as = secret,
  ) {
    readers.push(this);
    this.response = fetch(`${url}/live/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${as}`, 'x-faunadb-api-version': '4' },
      body: JSON.stringify({
        queries: queries.map((each) => ('told' in each ? each : { query: JSON.stringify(each) })),
      }),
      signal: this.stopped.signal,
    });
    void this.read().catch(() => undefined);
  }

  private async read(): Promise<void> {
    const { body } = await this.response;
    const decoder = new TextDecoder();
    for await (const part of body ?? []) this.text += decoder.decode(part, { stream: true });
    this.isOver = true;
  }

  get told(): readonly { number: number; status: number; tag: string; body: unknown }[] {
    return [...this.text.matchAll(TOLD)].map(([, number, status, tag = '', body = '']) => ({
      number: Number(number),
      status: Number(status),
      tag,
      body: JSON.parse(body) as unknown,
    }));
  }

  get values(): readonly unknown[] {
    return this.told.map(({ body }) => (body as { resource?: unknown }).resource);
  }

  stop(): void {
    this.stopped.abort();
  }
}

const all = { documents: { collection: 'notes' } };
const count = { count: all };
const add = (title = 'a') => ({
  create: { collection: 'notes' },
  params: { object: { data: { object: { title } } } },
});

test('a live query sends its answer, and a new one after a commit that changes it', async () => {
  const opened = await open();
  const reader = new Reader(opened, [count, { add: [1, 2] }]);
  await expect.poll(() => reader.values).toEqual([0, 3]);
  expect((await reader.response).headers.get('content-type')).toBe('text/event-stream');
  await opened.query(add());
  await expect.poll(() => reader.values).toEqual([0, 3, 1]);
  await opened.query({ create_collection: { object: { name: 'others' } } });
  await opened.query(add());
  await expect.poll(() => reader.values).toEqual([0, 3, 1, 2]);
  expect(await metric(opened, 'live_queries')).toBe(2);
  expect(await metric(opened, 'streams')).toBe(1);
  reader.stop();
  await expect.poll(() => metric(opened, 'live_queries')).toBe(0);
});

test('a reopened stream sends only the answers that its reader does not have', async () => {
  const opened = await open();
  const reader = new Reader(opened, [count, all]);
  await expect.poll(() => reader.told.length).toBe(2);
  reader.stop();
  const [counted, found] = reader.told;
  await opened.query(add());
  const again = [
    { query: JSON.stringify(count), told: counted?.tag ?? '' },
    { query: JSON.stringify(all), told: found?.tag ?? '' },
  ];
  const other = new Reader(opened, again);
  await expect.poll(() => other.values).toEqual([1]);
  await opened.query(add());
  await expect.poll(() => other.values).toEqual([1, 2]);
});

test('after many commits, the last state is sent', async () => {
  const opened = await open();
  const reader = new Reader(opened, [count]);
  await expect.poll(() => reader.values).toEqual([0]);
  await Promise.all(Array.from({ length: 40 }, () => opened.query(add())));
  await expect.poll(() => reader.values.at(-1)).toBe(40);
  const values = reader.values.map(Number);
  expect(values).toEqual([...values].sort((one, other) => one - other));
});

test('a query that fails sends its error and continues', async () => {
  const opened = await open();
  const made = { get: { ref: { collection: 'notes' }, id: '1' } };
  const reader = new Reader(opened, [made, { create_key: { object: { role: 'admin' } } }]);
  await expect.poll(() => reader.told.map(({ status }) => status)).toEqual([404, 400]);
  await opened.query({ create: { ref: { collection: 'notes' }, id: '1' } });
  await expect.poll(() => reader.told.map(({ status }) => status)).toEqual([404, 400, 200]);
});

const ok = async (answer: Promise<{ status: number }>): Promise<void> =>
  expect((await answer).status).toBeLessThan(300);

async function userOf(opened: TestHub): Promise<{ id: string; secret: string }> {
  await opened.query({ create_collection: { object: { name: 'users' } } });
  const role = {
    name: 'reader',
    privileges: {
      object: { resource: { collection: 'notes' }, actions: { object: { read: true } } },
    },
    membership: { object: { resource: { collection: 'users' } } },
  };
  await ok(opened.query({ create_role: { object: role } }));
  const { body: user } = await opened.query({
    create: { collection: 'users' },
    params: { object: {} },
  });
  const { ref } = user.resource as { ref: object };
  const { body: token } = await opened.query({
    create: { tokens: null },
    params: { object: { instance: ref } },
  });
  const { secret, ref: own } = token.resource as {
    secret: string;
    ref: { '@ref': { id: string } };
  };
  return { id: own['@ref'].id, secret };
}

test('a live query uses the current rights of its secret and ends when the secret is deleted (A5)', async () => {
  const opened = await open();
  const user = await userOf(opened);
  await ok(opened.query({ create: { ref: { collection: 'notes' }, id: '1' } }));
  const note = { exists: { ref: { collection: 'notes' }, id: '1' } };
  const reader = new Reader(opened, [note], user.secret);
  await expect.poll(() => reader.values).toEqual([true]);
  await ok(opened.query({ delete: { role: 'reader' } }));
  await expect.poll(() => reader.values).toEqual([true, false]);
  await opened.query({ delete: { ref: { tokens: null }, id: user.id } });
  await expect.poll(() => reader.isOver).toBe(true);
  expect(reader.text).toMatch(/event: ended\ndata: 401\ndata: .*unauthorized/);
  await expect.poll(() => metric(opened, 'live_queries')).toBe(0);
});

test('a stream whose token expires ends at a heartbeat (A5)', async () => {
  const opened = await open({ liveHeartbeatMs: 20 });
  const { id, secret } = await userOf(opened);
  const reader = new Reader(opened, [{ add: [1, 1] }], secret);
  await expect.poll(() => reader.text).toContain(': still here');
  const ttl = { time_add: { now: null }, offset: 1, unit: 'seconds' };
  await ok(opened.query({ update: { ref: { tokens: null }, id }, params: { object: { ttl } } }));
  await expect.poll(() => reader.isOver).toBe(true);
  expect(reader.text).toContain('event: ended');
});

test('streams survive a store that is unavailable for a while', async () => {
  const { store, ...rest } = memoryStorage();
  let isAway = false;
  const requireHere = (): void => {
    if (isAway) throw new Refusal('storage_unavailable', 'The store is away.');
  };
  const away: typeof store = {
    async read(body, options) {
      requireHere();
      return store.read(body, options);
    },
    async write(body, options) {
      requireHere();
      return store.write(body, options);
    },
    close: () => store.close(),
  };
  // Without a lease, as on a server: cached data are validated against the head.
  const storage = { ...rest, store: away, lease: undefined };
  const opened = await open({ liveHeartbeatMs: 50 }, storage);
  const made = await opened.query({ create_key: { object: { role: 'server' } } });
  const { secret } = made.body.resource as { secret: string };
  const reader = new Reader(opened, [count], secret);
  await expect.poll(() => reader.values).toEqual([0]);
  isAway = true;
  const beats = (): number => reader.text.split('still here').length;
  const before = beats();
  await expect.poll(() => beats() > before + 2 || reader.isOver).toBe(true);
  isAway = false;
  await opened.query(add());
  await expect.poll(() => reader.values).toEqual([0, 1]);
});

test('requests with a wrong credential, path or body are refused', async () => {
  const opened = await open();
  expect((await new Reader(opened, [count], 'nobody').response).status).toBe(401);
  expect((await new Reader(opened, []).response).status).toBe(400);
  const { url, secret } = opened;
  const headers = { authorization: `Bearer ${secret}` };
  const send = async (path: string, init: object = {}) =>
    (await fetch(`${url}${path}`, { headers, method: 'POST', ...init })).status;
  expect(await send('/live/')).toBe(400);
  expect(await send('/live/', { body: '{"queries":[1]}' })).toBe(400);
  expect(await send('/live/', { method: 'GET' })).toBe(405);
  expect(await send('/live/more', { body: '{}' })).toBe(404);
});

test('live queries are limited in number and length per credential', async () => {
  const opened = await open({ liveQueriesPerCredential: 2, liveCharsPerCredential: 2000 });
  const reader = new Reader(opened, [count, count]);
  await expect.poll(() => reader.told.length).toBe(2);
  expect((await new Reader(opened, [count]).response).status).toBe(429);
  reader.stop();
  await expect.poll(() => metric(opened, 'live_queries')).toBe(0);
  expect((await new Reader(opened, [{ length: 'x'.repeat(3000) }]).response).status).toBe(413);
  expect((await new Reader(opened, [count]).response).status).toBe(200);
});

test('streams of live queries count as streams of their credential', async () => {
  const opened = await open({ streamsPerCredential: 1 });
  const reader = new Reader(opened, [count]);
  await expect.poll(() => reader.values).toEqual([0]);
  expect((await new Reader(opened, [count]).response).status).toBe(429);
  expect(await metric(opened, 'live_queries')).toBe(1);
});

test('live queries use the rate limit of their token and wait for it', async () => {
  const opened = await open({ ratePerToken: 2 });
  const { secret } = await userOf(opened);
  const reader = new Reader(
    opened,
    Array.from({ length: 6 }, (_, i) => ({ add: [i, 0] })),
    secret,
  );
  await expect.poll(() => reader.values).toEqual([0, 1, 2, 3, 4, 5]);
  const text = await (await fetch(`${opened.url}/metrics`)).text();
  expect(text).toMatch(/burrow_turned_away_total\{why="live"\} [1-9]/);
});

test('a client that never reads is disconnected, and its pending answers are limited', async () => {
  const opened = await open({ slowReaderMs: 300 });
  const long = { map: { lambda: 'i', expr: 'x'.repeat(100) }, collection: Array(60_000).fill(1) };
  const body = JSON.stringify({
    queries: Array.from({ length: 8 }, (_, i) => ({ query: JSON.stringify([i, long]) })),
  });
  const { socket } = dial(
    opened.port,
    `POST /live/ HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${opened.secret}\r\nx-faunadb-api-version: 4\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  socket.pause();
  await expect.poll(() => metric(opened, 'answer_bytes')).toBeGreaterThan(4 * MIB);
  expect(await metric(opened, 'answer_bytes')).toBeLessThan(16 * MIB);
  await expect.poll(() => metric(opened, 'live_queries')).toBe(0);
  expect(await metric(opened, 'answer_bytes')).toBe(0);
});

test('the hub ends the streams when it stops, and its log contains no secret and no query', async () => {
  const opened = await open();
  const reader = new Reader(opened, [{ concat: ['hush', 'hush'] }]);
  await expect.poll(() => reader.values).toEqual(['hushhush']);
  await opened.close();
  await expect.poll(() => reader.isOver).toBe(true);
  expect(opened.logged()).toContain('"route":"live"');
  expect(opened.logged()).not.toContain(opened.secret);
  expect(opened.logged()).not.toContain('hush');
});
