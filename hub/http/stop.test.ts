/** The stop, and responses that break off, as programs see them over HTTP/2: everything they await settles, with an error. */
import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { connect as connectPlainly, type Socket } from 'node:net';
import faunadb from 'faunadb';
import { afterEach, expect, test } from 'vitest';
import { makeCertificate } from '../testing/certificate.ts';
import { memoryStorage, openTestHub } from '../testing/test-hub.ts';
import type { HubRoute } from './route.ts';

const { Client, query: q } = faunadb;
type Driver = InstanceType<typeof Client>;

let client: Driver | undefined;
let session: ClientHttp2Session | undefined;
let release: () => void = () => undefined;
afterEach(async () => {
  release();
  session?.destroy();
  await client?.close({ force: true });
});

/** A store whose writes wait for `release()` once `hold()` was called. */
function heldStorage() {
  const { store, ...rest } = memoryStorage();
  let held = Promise.resolve();
  let waiting = 0;
  const hold = (): void => {
    held = new Promise((resolve) => (release = resolve));
  };
  const write: typeof store.write = async (body, options) => {
    waiting += 1;
    await held;
    return store.write(body, options);
  };
  const read: typeof store.read = (body, options) => store.read(body, options);
  const close = () => store.close();
  return { storage: { ...rest, store: { read, write, close } }, hold, waiting: () => waiting };
}

/** A hub with a document, and the driver with three streams of it and a write that waits. `told` records their outcomes. */
async function openBusy(drainMs: number) {
  const { storage, hold, waiting } = heldStorage();
  const hub = await openTestHub({ storage, settings: { drainMs } });
  // Longer than the test, so that it is not the driver's own timeout that settles the promise.
  const where = { domain: '127.0.0.1', port: hub.port, scheme: 'http' as const, timeout: 3600 };
  const driver = new Client({ secret: hub.secret, ...where });
  client = driver;
  await driver.query(q.CreateCollection({ name: 'notes' }));
  const ref = q.Ref(q.Collection('notes'), '1');
  await driver.query(q.Create(ref, { data: {} }));
  const told: string[] = [];
  let started = 0;
  for (let i = 0; i < 3; i++)
    driver
      .stream(ref)
      .on('start', () => void (started += 1))
      .on('error', (error) => void told.push(String(error)))
      .start();
  await expect.poll(() => started).toBe(3);
  hold();
  const before = waiting();
  const writing = driver.query(q.Update(ref, { data: { n: 1 } })).then(
    () => 'done',
    (reason: unknown) => String(reason),
  );
  await expect.poll(waiting).toBeGreaterThan(before);
  return { told, writing, closing: hub.close(), driver };
}

test('a query that ends before the deadline is answered, and streams end with an error', async () => {
  const { told, writing, closing, driver } = await openBusy(60_000);
  await expect.poll(() => told).toEqual(Array(3).fill('TypeError: network error'));
  release();
  expect(await writing).toBe('done');
  await closing;
  await expect(driver.query(1)).rejects.toThrow('ECONNREFUSED');
  await driver.close();
});

test('a query that does not end before the deadline fails, and the driver closes', async () => {
  const { told, writing, closing, driver } = await openBusy(1);
  expect(await writing).toMatch(/closed with error code/);
  const failure = expect.stringMatching(/network error|closed with error code/) as unknown;
  await expect.poll(() => told).toEqual(Array(3).fill(failure));
  await driver.close();
  release();
  await closing;
});

/** The events of a request that its client sees, in order. */
async function toldOf(url: string, path: string, stop?: () => unknown): Promise<string[]> {
  const told: string[] = [];
  session = connect(url, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  const stream = session.request({ ':path': path });
  stream.on('error', (reason) => void told.push(reason.message));
  stream.on('end', () => void told.push('end')).resume();
  void once(stream, 'response').then(
    () => void told.push('response'),
    () => undefined,
  );
  const isClosed = new Promise((resolve) => stream.once('close', resolve));
  if (stop) await stop();
  await isClosed;
  return told;
}

test('over TLS a request in progress at the deadline fails, too', async () => {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const handle: HubRoute['handle'] = () => {
    begin();
    return new Promise(() => undefined);
  };
  const hub = await openTestHub({
    tls: makeCertificate(),
    settings: { drainMs: 1 },
    routes: () => [{ prefix: '/never/', handle }],
  });
  const { url, close } = hub;
  const told = await toldOf(url, '/never/', async () => {
    await begun;
    await close();
  });
  expect(told.join()).toMatch(/^(Session|Stream) closed with error code/);
});

test('a response that breaks off does not end like a complete one', async () => {
  const handle: HubRoute['handle'] = async () => {
    async function* body() {
      yield 'a part';
      throw new Error('The rest is not there.');
    }
    return { status: 200, headers: {}, body: body() };
  };
  const hub = await openTestHub({ routes: () => [{ prefix: '/broken/', handle }] });
  const told = await toldOf(hub.url, '/broken/');
  expect(told).not.toContain('end');
  expect(told.join()).toMatch(/Stream closed with error code NGHTTP2_INTERNAL_ERROR$/);
});

test('requests on a refused connection fail', async () => {
  const hub = await openTestHub({ settings: { sockets: 0 } });
  expect((await toldOf(hub.url, '/ping')).join()).toMatch(/canceled|ECONNRESET/);
});

test('requests that are queued when the stop begins are answered', async () => {
  // On a slow machine, the connection must not be closed between its two requests.
  const hub = await openTestHub({ settings: { keepAliveMs: 120_000 } });
  const { port, secret } = hub;
  const sockets = Array.from({ length: 100 }, () => connectPlainly(port, '127.0.0.1'));
  const body = '{"add":[1,1]}';
  const request = `POST / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}\r\nx-faunadb-api-version: 4\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const ask = async (socket: Socket): Promise<string | undefined> => {
    socket.write(request);
    const [part] = (await once(socket, 'data')) as [Buffer];
    return part.toString().split('\r\n', 1)[0];
  };
  // From now on the hub reads everything that arrives on the connections at once, and begins some of it in each turn.
  await Promise.all(sockets.map(ask));
  const answers = sockets.map(ask);
  await Promise.race(answers);
  const closed = hub.close();
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
  for (const socket of sockets) socket.destroy();
  await closed;
});
