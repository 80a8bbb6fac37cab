import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Refusal } from '../../src/errors.ts';
import type { SocketReply } from '../../src/sync/protocol/hints.ts';
import {
  createThing,
  DEVICE,
  HELLO,
  openSyncTestHub,
  pushItem,
  type SyncTestHub,
} from '../testing/sync-test-hub.ts';

async function open(...options: Parameters<typeof openSyncTestHub>): Promise<SyncTestHub> {
  const hub = await openSyncTestHub(...options);
  await hub.post('hello', HELLO);
  return hub;
}

/** The WebSocket of a device, and the messages that have arrived on it. */
class SyncSocket {
  readonly socket: WebSocket;
  private readonly arrived: SocketReply[] = [];
  private wake: (() => void) | undefined = undefined;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/sync/line`, { headers });
    this.socket.on('message', (data: Buffer) => {
      this.arrived.push(JSON.parse(data.toString()) as SocketReply);
      this.wake?.();
    });
    this.socket.on('close', () => this.wake?.());
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async next(): Promise<SocketReply> {
    for (;;) {
      const reply = this.arrived.shift();
      if (reply) return reply;
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error('The session was closed.');
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** Resolves with the close code. */
  async closed(): Promise<number> {
    const [code] = (await once(this.socket, 'close')) as [number];
    return code;
  }
}

async function connect(url: string): Promise<SyncSocket> {
  const socket = new SyncSocket(url);
  await once(socket.socket, 'open');
  return socket;
}

async function openSession({ url, secret }: SyncTestHub, token = secret, device = DEVICE) {
  const session = await connect(url);
  session.send({ open: { token, device } });
  return session;
}

const pushOf = (n: number, { hub }: SyncTestHub, ...seqs: readonly number[]) => {
  const items = seqs.map((seq) => pushItem(seq, createThing()));
  return { n, push: { device: DEVICE, epoch: hub.epoch, settled: 0, items } };
};

/** The status of the response that refuses the upgrade. */
function refusedUpgrade(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { socket } = new SyncSocket(url, headers);
  return new Promise((resolve) => {
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.on('error', () => undefined);
  });
}

test('a session accepts pushes, answers each with its number, and sends hints of other commits', async () => {
  const hub = await open();
  const session = await openSession(hub);
  expect(await session.next()).toEqual({ opened: true });
  session.send(pushOf(7, hub, 1, 2));
  expect(await session.next()).toMatchObject({
    n: 7,
    pushed: { lastSeq: 2, verdicts: [{ seq: 1, state: 'confirmed' }, { seq: 2 }] },
  });
  session.send(pushOf(8, hub, 9));
  expect(await session.next()).toMatchObject({ n: 8, refused: { code: 'gap' } });
  const sets = [{ id: 'a', query: '{"documents":{"collection":"things"}}', loaded: 'nothing' }];
  const { epoch } = hub.hub;
  await hub.post('pull', { device: DEVICE, epoch, sets, refetch: [], settled: 2, maxBytes: 1e6 });
  await hub.query(createThing());
  expect(await session.next()).toMatchObject({ poke: {} });
  session.socket.close();
});

test.each([
  ['with an unknown token', { open: { token: 'nobody', device: DEVICE } }, 'needs_login'],
  ['whose first message is a push', { n: 1, push: {} }, 'bad_message'],
  ['whose first message is not JSON', 'hello', 'bad_message'],
])('a session %s is refused and closed', async (_, first, code) => {
  const { url } = await open();
  const session = await connect(url);
  const closed = session.closed();
  session.send(first);
  expect(await session.next()).toMatchObject({ refused: { code } });
  expect(await closed).toBe(1000);
});

test("a push that fails with the store releases its place among its credential's requests", async () => {
  const hub = await open({ concurrencyPerCredential: 1, waitingPerCredential: 0 });
  const session = await openSession(hub);
  expect(await session.next()).toEqual({ opened: true });
  const write = vi.spyOn(hub.hub.store, 'write').mockRejectedValue(new Error('The store fails.'));
  const closed = session.closed();
  session.send(pushOf(1, hub, 1));
  await closed;
  write.mockRestore();
  expect((await hub.query({ add: [1, 2] })).status).toBe(200);
});

test('a push that the store refuses is answered with the reason, and the session continues', async () => {
  const hub = await open();
  const session = await openSession(hub);
  expect(await session.next()).toEqual({ opened: true });
  const description = 'The disk of the database is full: nothing was stored.';
  const write = vi.spyOn(hub.hub.store, 'write');
  write.mockRejectedValue(new Refusal('quota_exceeded', description));
  session.send(pushOf(1, hub, 1));
  expect(await session.next()).toEqual({ n: 1, refused: { code: 'quota_exceeded', description } });
  write.mockRestore();
  session.send(pushOf(2, hub, 1));
  expect(await session.next()).toMatchObject({ n: 2, pushed: { lastSeq: 1 } });
});

test('a session for an invalid device is refused and closed', async () => {
  const hub = await open();
  const session = await openSession(hub, hub.secret, 'x');
  expect(await session.next()).toMatchObject({ refused: { code: 'bad_message' } });
  expect(await session.closed()).toBe(1000);
});

test.each([
  ['that is not a request', 'what?', 1000],
  ['of binary data', Buffer.from('{}'), 1003],
  ['of more than 64 KiB', 'x'.repeat(65 * 1024), 1009],
])('a message %s closes the session', async (_, message, code) => {
  const session = await openSession(await open());
  await session.next();
  const closed = session.closed();
  session.socket.send(message);
  expect(await closed).toBe(code);
});

test('a session without a first message is closed after a timeout', async () => {
  const { url } = await open({ headerMs: 50 });
  expect(await new SyncSocket(url).closed()).toBe(1008);
});

test('a session that receives endless frames, but no message, is disconnected', async () => {
  const session = await openSession(await open());
  await session.next();
  const closed = session.closed();
  session.socket.send('{', { fin: false });
  const filler = 'x'.repeat(125);
  for (let n = 0; n < 4096; n++) session.socket.pong(filler);
  expect(await closed).toBe(1006);
});

test('a session whose message arrives in many fragments is closed', async () => {
  const session = await openSession(await open());
  await session.next();
  const closed = session.closed();
  for (let n = 0; n < 1000; n++) session.socket.send(' ', { fin: false });
  expect(await closed).toBe(1008);
});

/** Sends a message one byte at a time until the connection ends. @returns the number of bytes sent */
async function sendBytewise({ socket }: SyncSocket): Promise<number> {
  const raw = (socket as unknown as { readonly _socket: Socket })._socket;
  // The header of a text message of 64 KiB, masked with zeros.
  raw.write(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
  let sent = 0;
  for (; sent < 0x10000 && !raw.destroyed; sent += 1) {
    raw.write(' ');
    await new Promise((resolve) => setImmediate(resolve));
  }
  return sent;
}

test('a session whose message arrives byte by byte is closed long before its end', async () => {
  const session = await openSession(await open());
  await session.next();
  session.socket.on('error', () => undefined);
  expect(await sendBytewise(session)).toBeLessThan(20_000);
});

test('pushes over a session count as requests, and a refusal says when to retry', async () => {
  const hub = await open({ ratePerAddress: 1, burstSeconds: 8 });
  const session = await openSession(hub);
  await session.next();
  let reply: SocketReply = { beat: true };
  for (let n = 1; !('refused' in reply) && n < 1000; n++) {
    session.send(pushOf(n, hub, 1));
    do reply = await session.next();
    while ('poke' in reply);
  }
  expect(reply).toMatchObject({ refused: { code: 'too many requests' }, retryAfterSeconds: 1 });
  session.socket.close();
});

test('a session beyond the rate of its address is refused with a retry time, without reading the store', async () => {
  // Three requests are allowed at once: creating the collection, the hello, and the upgrade.
  const hub = await open({ ratePerAddress: 0.001, burstSeconds: 3000 });
  const reads = vi.spyOn(hub.hub.store, 'read');
  const session = await openSession(hub);
  expect(await session.next()).toMatchObject({
    refused: { code: 'too many requests' },
    retryAfterSeconds: expect.any(Number) as unknown,
  });
  expect(reads).not.toHaveBeenCalled();
});

test('a session counts as a stream of its credential', async () => {
  const hub = await open({ streamsPerCredential: 1 });
  const first = await openSession(hub);
  expect(await first.next()).toEqual({ opened: true });
  const second = await openSession(hub);
  expect(await second.next()).toMatchObject({ refused: { code: 'too many requests' } });
  const closed = first.closed();
  first.socket.close();
  await closed;
  // The hub notices the closed connection a moment later.
  for (let reply: SocketReply = { beat: true }; !('opened' in reply);)
    reply = await (await openSession(hub)).next();
});

test('a session has heartbeats; revoking its token ends it', async () => {
  const hub = await open({}, { heartbeatMs: 20 });
  await hub.query({ create_collection: { object: { name: 'people' } } });
  const person = { ref: { collection: 'people' }, id: '1' };
  await hub.query({ create: person, params: { object: {} } });
  const params = { object: { instance: person } };
  const made = await hub.query({ create: { tokens: null }, params });
  const { secret } = made.body.resource as { secret: string };
  const device = 'e'.repeat(32);
  await hub.post('hello', { ...HELLO, device }, secret);
  const session = await openSession(hub, secret, device);
  expect(await session.next()).toEqual({ opened: true });
  expect(await session.next()).toEqual({ beat: true });
  const closed = session.closed();
  await hub.query({ logout: true }, secret);
  for (let reply = await session.next(); !('refused' in reply);) reply = await session.next();
  expect(await closed).toBe(1000);
});

test('a client that does not answer pings is disconnected', async () => {
  const session = await openSession(await open({}, { heartbeatMs: 20 }));
  await session.next();
  const closed = session.closed();
  session.socket.pong = () => undefined;
  expect(await closed).toBe(1006);
});

test('a session survives a hub that was blocked for longer than a heartbeat', async () => {
  const heartbeatMs = 200;
  const hub = await open({}, { heartbeatMs });
  const session = await openSession(hub);
  await session.next();
  for (let n = 1; n <= 3; n++) {
    let reply = await session.next();
    while (!('beat' in reply)) reply = await session.next();
    const blocked = performance.now() + 3 * heartbeatMs;
    while (performance.now() < blocked);
    session.send(pushOf(n, hub, 1));
    do reply = await session.next();
    while (!('n' in reply));
    expect(reply).toMatchObject({ n, pushed: { lastSeq: 1 } });
  }
  session.socket.close();
});

test('a session from another origin, host name or path is refused', async () => {
  const { url } = await open();
  expect(await refusedUpgrade(url, { origin: 'https://evil.example' })).toBe(403);
  expect(await refusedUpgrade(url, { host: 'rebound.example' })).toBe(403);
  const headers = { connection: 'Upgrade', upgrade: 'websocket' };
  const sent = request(`${url}/elsewhere`, { headers }).end();
  const [response] = (await once(sent, 'response')) as [{ readonly statusCode: number }];
  expect(response.statusCode).toBe(404);
});

test('an upgrade to another protocol is answered with an error', async () => {
  const { url } = await open();
  const headers = { connection: 'Upgrade', upgrade: 'chess' };
  const sent = request(`${url}/sync/line`, { headers }).end();
  const [response] = (await once(sent, 'response')) as [{ readonly statusCode: number }];
  expect(response.statusCode).toBeGreaterThanOrEqual(400);
});

test('a hub that stops closes its sessions with code 1001', async () => {
  const hub = await open();
  const session = await openSession(hub);
  await session.next();
  const closed = session.closed();
  await hub.close();
  expect(await closed).toBe(1001);
});

test('of many messages in one chunk, one is handled per turn of the event loop', async () => {
  const hub = await open();
  const session = await openSession(hub);
  await session.next();
  let [taken, inTurn, most] = [0, 0, 0];
  // oxlint-disable-next-line typescript/unbound-method
  const { emit } = WebSocket.prototype;
  vi.spyOn(WebSocket.prototype, 'emit').mockImplementation(function (this: WebSocket, ...event) {
    if (event[0] === 'message' && this !== session.socket) {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      most = Math.max(most, (inTurn += 1));
      taken += 1;
    }
    return emit.apply(this, event);
  });
  for (let n = 0; n < 500; n += 1) session.send({ n });
  await session.closed();
  expect(taken).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(2);
});
