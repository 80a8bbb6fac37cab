import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { hashOf } from '../../src/sync/digest.ts';
import type { LineReply } from '../../src/sync/protocol.ts';
import { createHubServer } from '../http/create-hub-server.ts';
import { createLogger } from '../monitoring/logger.ts';
import { openHub } from '../instance/open-hub.ts';
import {
  DEFAULT_LIMITS,
  DEFAULT_SETTINGS,
  type HubLimits,
  type HubSettings,
} from '../settings/settings.ts';
import { createSyncRoute } from './sync-route.ts';
import { memoryGround } from '../testing/test-hub.ts';

const SECRET = 'burrow-root-of-a-test-hub-which-is-known';
const DEVICE = 'd'.repeat(32);
const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest());

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function open(
  limits: Partial<HubLimits> = {},
  { heartbeatMs, ...more }: Partial<HubSettings> & { readonly heartbeatMs?: number } = {},
) {
  const settings = {
    ...DEFAULT_SETTINGS,
    rootSecret: SECRET,
    hashCost: 4,
    ...more,
    limits: {
      ...DEFAULT_LIMITS,
      ratePerToken: 0,
      ratePerAddress: 0,
      queryTimeoutDefaultMs: 120_000,
      ...limits,
    },
  };
  const hub = await openHub(memoryGround(), settings, () => undefined);
  const server = await createHubServer({
    hub,
    settings: { ...settings, tls: undefined },
    logger: createLogger('silent'),
    routes: [createSyncRoute(hub, heartbeatMs === undefined ? {} : { heartbeatMs })],
  });
  const url = await server.listen(0);
  closers.push(async () => {
    await server.close();
    await hub.close();
  });
  const ask = async (path: string, message: unknown) => {
    const headers = { authorization: `Bearer ${SECRET}`, 'x-faunadb-api-version': '4' };
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
    });
    return (await answer.json()) as { readonly resource?: { readonly secret?: string } };
  };
  await ask('/', { create_collection: { object: { name: 'things' } } });
  await ask('/sync/hello', { protocol: 1, device: DEVICE, lastSeq: 0 });
  return { url, hub, server, ask };
}

/** A socket, and what it heard. */
class Heard {
  readonly socket: WebSocket;
  private readonly replies: LineReply[] = [];
  private wake: (() => void) | undefined = undefined;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/sync/line`, { headers });
    this.socket.on('message', (data: Buffer) => {
      this.replies.push(JSON.parse(data.toString()) as LineReply);
      this.wake?.();
    });
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async next(): Promise<LineReply> {
    for (;;) {
      const reply = this.replies.shift();
      if (reply) return reply;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  async closed(): Promise<number> {
    const [code] = (await once(this.socket, 'close')) as [number];
    return code;
  }
}

async function lineTo(url: string, token = SECRET): Promise<Heard> {
  const line = new Heard(url);
  await once(line.socket, 'open');
  line.say({ open: { token, device: DEVICE } });
  return line;
}

function item(seq: number) {
  const query = JSON.stringify({ create: { collection: 'things' }, params: { object: {} } });
  const content = { seq, query, apiVersion: '4', now: 0, ids: [] };
  return { ...content, hash: hashOf(content, sha256) };
}

const pushOf = (n: number, epoch: string, ...seqs: readonly number[]) => ({
  n,
  push: { device: DEVICE, epoch, settled: 0, items: seqs.map(item) },
});

/** What came instead of a line. */
function refusedUpgrade(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { socket } = new Heard(url, headers);
  return new Promise((resolve) => {
    socket.on('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0));
    socket.on('error', () => undefined);
  });
}

test('a line takes pushes, answers each by its number, and brings hints of what others do', async () => {
  const { url, hub, ask } = await open();
  const line = await lineTo(url);
  expect(await line.next()).toEqual({ opened: true });
  line.say(pushOf(7, hub.epoch, 1, 2));
  expect(await line.next()).toMatchObject({
    n: 7,
    pushed: { lastSeq: 2, verdicts: [{ seq: 1, state: 'confirmed' }, { seq: 2 }] },
  });
  line.say(pushOf(8, hub.epoch, 9));
  expect(await line.next()).toMatchObject({ n: 8, refused: { code: 'gap' } });
  const sets = [{ id: 'a', query: '{"documents":{"collection":"things"}}', loaded: 'nothing' }];
  const pull = { device: DEVICE, epoch: hub.epoch, sets, refetch: [], settled: 2, maxBytes: 1e6 };
  await ask('/sync/pull', pull);
  await ask('/', { create: { collection: 'things' }, params: { object: {} } });
  expect(await line.next()).toMatchObject({ poke: {} });
  line.socket.close();
});

test.each([
  ['of nobody', { open: { token: 'nobody', device: DEVICE } }, 'needs_login'],
  ['for a device that is none', { open: { token: SECRET, device: 'x' } }, 'bad_message'],
  ['that begins with something else', { n: 1, push: {} }, 'bad_message'],
  ['that begins with no JSON', 'hello', 'bad_message'],
])('a line %s is refused and closed', async (_, first, code) => {
  const { url } = await open();
  const line = new Heard(url);
  await once(line.socket, 'open');
  const closed = line.closed();
  line.say(first);
  expect(await line.next()).toMatchObject({ refused: { code } });
  expect(await closed).toBe(1000);
});

test.each([
  ['what is no call', 'what?', 1000],
  ['bytes', Buffer.from('{}'), 1003],
  ['more than 64 KiB', 'x'.repeat(65 * 1024), 1009],
])('a line on which %s is said is closed', async (_, said, code) => {
  const { url } = await open();
  const line = await lineTo(url);
  await line.next();
  const closed = line.closed();
  line.socket.send(said);
  expect(await closed).toBe(code);
});

test('a line on which nothing is said is closed in time', async () => {
  const { url } = await open({ headerMs: 50 });
  const line = new Heard(url);
  expect(await line.closed()).toBe(1008);
});

test('pushes over a line count as requests do, and the device is told when to come again', async () => {
  const { url, hub } = await open({ ratePerAddress: 1, burstSeconds: 8 });
  const line = await lineTo(url);
  await line.next();
  let reply: LineReply = { beat: true };
  for (let n = 1; !('refused' in reply) && n < 1000; n++) {
    line.say(pushOf(n, hub.epoch, 1));
    do reply = await line.next();
    while ('poke' in reply);
  }
  expect(reply).toMatchObject({ refused: { code: 'too many requests' }, retryAfterSeconds: 1 });
  line.socket.close();
});

test('a line counts as a stream of its credential', async () => {
  const { url } = await open({ streamsPerCredential: 1 });
  const first = await lineTo(url);
  expect(await first.next()).toEqual({ opened: true });
  const second = await lineTo(url);
  expect(await second.next()).toMatchObject({ refused: { code: 'too many requests' } });
  const closed = first.closed();
  first.socket.close();
  await closed;
  // The hub hears of it a moment later.
  for (let reply: LineReply = { beat: true }; !('opened' in reply);)
    reply = await (await lineTo(url)).next();
});

test('a heartbeat shows that the hub is there; with a token that was withdrawn the line ends', async () => {
  const { url, ask } = await open({}, { heartbeatMs: 20 });
  await ask('/', { create_collection: { object: { name: 'people' } } });
  const person = { ref: { collection: 'people' }, id: '1' };
  await ask('/', { create: person, params: { object: {} } });
  const token = async () => {
    const params = { object: { instance: person } };
    return (await ask('/', { create: { tokens: null }, params })).resource?.secret ?? '';
  };
  const secret = await token();
  const headers = { authorization: `Bearer ${secret}` };
  const device = 'e'.repeat(32);
  const body = JSON.stringify({ protocol: 1, device, lastSeq: 0 });
  await fetch(`${url}/sync/hello`, { method: 'POST', headers, body });
  const line = new Heard(url);
  await once(line.socket, 'open');
  line.say({ open: { token: secret, device } });
  expect(await line.next()).toEqual({ opened: true });
  expect(await line.next()).toEqual({ beat: true });
  const closed = line.closed();
  const logout = JSON.stringify({ logout: true });
  await fetch(url, { method: 'POST', headers, body: logout });
  for (let reply = await line.next(); !('refused' in reply);) reply = await line.next();
  expect(await closed).toBe(1000);
});

test('who does not answer a probe is let go', async () => {
  const { url } = await open({}, { heartbeatMs: 20 });
  const line = await lineTo(url);
  await line.next();
  const closed = line.closed();
  line.socket.pong = () => undefined;
  expect(await closed).toBe(1006);
});

test('a line outlives a hub that stood still for longer than heartbeats', async () => {
  const { url, hub } = await open({}, { heartbeatMs: 20 });
  const line = await lineTo(url);
  await line.next();
  for (let n = 1; n <= 5; n++) {
    let reply = await line.next();
    while (!('beat' in reply)) reply = await line.next();
    const still = performance.now() + 60;
    while (performance.now() < still);
    line.say(pushOf(n, hub.epoch, 1));
    do reply = await line.next();
    while (!('n' in reply));
    expect(reply).toMatchObject({ n, pushed: { lastSeq: 1 } });
  }
  line.socket.close();
});

test('pages of other origins, other names and other paths get no line', async () => {
  const { url } = await open();
  expect(await refusedUpgrade(url, { origin: 'https://evil.example' })).toBe(403);
  expect(await refusedUpgrade(url, { host: 'rebound.example' })).toBe(403);
  const headers = { connection: 'Upgrade', upgrade: 'websocket' };
  const asked = request(`${url}/elsewhere`, { headers }).end();
  const [answer] = (await once(asked, 'response')) as [{ readonly statusCode: number }];
  expect(answer.statusCode).toBe(404);
});

test('an upgrade to something else is answered, and holds up nobody', async () => {
  const { url } = await open();
  const headers = { connection: 'Upgrade', upgrade: 'chess' };
  const asked = request(`${url}/sync/line`, { headers }).end();
  const [answer] = (await once(asked, 'response')) as [{ readonly statusCode: number }];
  expect(answer.statusCode).toBeGreaterThanOrEqual(400);
});

test('a hub that is stopped says so to its lines', async () => {
  const { url, server } = await open();
  const line = await lineTo(url);
  await line.next();
  const closed = line.closed();
  await server.close();
  expect(await closed).toBe(1001);
});
