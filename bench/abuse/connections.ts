/** Connections and requests that no ordinary client makes, and that hold resources which other clients need. */
import { createHash } from 'node:crypto';
import { HUB_LIMITS, SYNC_LIMITS } from '../../src/limits.ts';
import { hashOf } from '../../src/sync/protocol/digest.ts';
import { FINGERPRINT_BUCKETS, SYNC_PROTOCOL } from '../../src/sync/protocol/messages.ts';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { longText, range } from '../../src/engine/testing/large-values.ts';
import { EMAIL, object, type Credentials } from './prepare.ts';
import { send } from '../hub/send.ts';

export interface Target {
  readonly port: number;
  readonly credentials: Credentials;
  readonly signal: AbortSignal;
}

/** Runs until the signal, and resolves to counts of what happened, such as responses by status. */
export type Attack = (target: Target) => Promise<Readonly<Record<string, number>>>;

/** Attackers use another address than the innocent client, because some limits apply per address. */
const ATTACKER = '127.0.0.2';
const EIGHT_MIB = 8 * 1024 * 1024;
const HEAD = 'HTTP/1.1\r\nhost: 127.0.0.1\r\n';

/**
 * Opens a socket that sends `text`, and `then` after the first data of the response. The socket is closed when the attack ends. Resolves
 * when it is closed, to the number of responses.
 */
function dial(
  { port, signal }: Target,
  text: string | Buffer,
  reads = true,
  then = '',
): Promise<number> {
  return new Promise((resolve) => {
    let answers = 0;
    const socket: Socket = connect({ port, host: '127.0.0.1', localAddress: ATTACKER });
    socket.on('error', () => undefined).on('close', () => resolve(answers));
    if (then !== '') socket.once('data', () => socket.write(then));
    if (reads) socket.on('data', (part) => (answers += String(part).split('HTTP/1.1 ').length - 1));
    socket.write(text);
    const end = (): void => void socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    socket.on('close', () => signal.removeEventListener('abort', end));
  });
}

/** Keeps `atOnce` sockets open: when one is closed, opens another. */
async function keepDialling(
  target: Target,
  atOnce: number,
  text: () => string | Buffer,
  reads = true,
): Promise<Readonly<Record<string, number>>> {
  let [sockets, answers] = [0, 0];
  await Promise.all(
    range(atOnce).map(async () => {
      while (!target.signal.aborted) {
        sockets += 1;
        answers += await dial(target, text(), reads);
      }
    }),
  );
  return { sockets, answers };
}

const openSession = (port: number): ClientHttp2Session =>
  connectHttp2(`http://127.0.0.1:${port}`, {
    // The hub may reset the socket after its HTTP/2 session has ended: then no other listener handles the error.
    createConnection: () =>
      connect({ port, host: '127.0.0.1', localAddress: ATTACKER }).on('error', () => undefined),
  });

const count = (into: Record<string, number>, status: number): void => {
  into[status] = (into[status] ?? 0) + 1;
};

export interface Sender {
  readonly secret: string;
  readonly localAddress?: string;
}

/** Sends the request again and again: each sender has one request at a time. Resolves to the number of responses by status. */
export async function keepSending(
  { port, signal }: Target,
  senders: readonly Sender[],
  body: string | Buffer,
  path?: string,
): Promise<Readonly<Record<string, number>>> {
  const statuses: Record<string, number> = {};
  await Promise.all(
    senders.map(async ({ secret, localAddress = ATTACKER }) => {
      while (!signal.aborted) {
        const sent = { secret, body, localAddress, ...(path !== undefined && { path }) };
        const { status } = await send(port, sent).catch(() => ({ status: 0 }));
        count(statuses, status);
      }
    }),
  );
  return statuses;
}

const login = JSON.stringify({
  login: { match: { index: 'users_by_email' }, terms: EMAIL },
  params: object({ password: 'a wrong password' }),
});

function liveRequest({ credentials }: Target, queries: readonly unknown[]): string {
  const body = JSON.stringify({
    queries: queries.map((query) => ({ query: JSON.stringify(query) })),
  });
  return `POST /live/ ${HEAD}authorization: Bearer ${credentials.attacker}\r\nx-faunadb-api-version: 4\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** JSON of the greatest accepted length: a list with the greatest number of empty objects, which are slowest to parse, and a long text. */
function longBody(values: number, before: string, after: string): string {
  const chars = HUB_LIMITS.parsedBodyBytes - before.length - after.length - 2;
  const objects = '{},'.repeat(values / 2 - 10);
  return `${before}${objects}"${'x'.repeat(chars - objects.length)}"${after}`;
}

const LONG_BODIES = {
  'documents by the older REST routes, as long as is accepted': {
    path: '/collections/notes',
    body: longBody(HUB_LIMITS.otherBodyValues, '{"data":{"a":[', ']}}'),
  },
  'pulls of devices, as long as is accepted': {
    path: '/sync/pull',
    body: longBody(HUB_LIMITS.messageValues, '{"sets":[', ']}'),
  },
  'live queries, as long as is accepted': {
    path: '/live/',
    body: longBody(HUB_LIMITS.messageValues, '{"queries":[', ']}'),
  },
  'streams of a query, as long as is accepted': {
    path: '/stream',
    body: longBody(HUB_LIMITS.otherBodyValues, '[', ']'),
  },
  'live queries of nothing but quotes, as long as is accepted': {
    path: '/live/',
    body: `{"queries":["${String.raw`\"`.repeat(HUB_LIMITS.parsedBodyBytes / 2 - 16)}"]}`,
  },
} as const;

const NOTES = { id: 'notes', query: JSON.stringify({ documents: { collection: 'notes' } }) };

/** Says hello as a device of the attacker, whose contents do not matter. */
async function deviceAt({ port, credentials }: Target, device = 'a'.repeat(32)) {
  const secret = credentials.attacker;
  const hello = JSON.stringify({ protocol: SYNC_PROTOCOL, device, lastSeq: 0 });
  const { text } = await send(port, { secret, body: hello, path: '/sync/hello' });
  const { epoch } = JSON.parse(text) as { readonly epoch: string };
  return { secret, device, epoch };
}

/** A device that compares a set with the hub again and again. The hub evaluates a predicate for each document. */
const checks: Attack = async (target) => {
  const { secret, ...from } = await deviceAt(target);
  const buckets = range(FINGERPRINT_BUCKETS).map(() => '0'.repeat(16));
  const check = JSON.stringify({ ...from, set: NOTES, buckets });
  return keepSending(target, [{ secret }, { secret }], check, '/sync/check');
};

/** A device that starts to load a set again and again. The hub evaluates a predicate for each document. */
const loads: Attack = async (target) => {
  const { secret, ...from } = await deviceAt(target);
  const sets = [{ ...NOTES, loaded: 'nothing' }];
  const pull = { ...from, sets, refetch: [], settled: 0, maxBytes: 4 * 1024 * 1024 };
  const senders = range(8).map(() => ({ secret }));
  return keepSending(target, senders, JSON.stringify(pull), '/sync/pull');
};

/** A device that requests all changes since the beginning again and again. The hub evaluates a predicate for each document. */
const catchesUp: Attack = async (target) => {
  const { secret, ...from } = await deviceAt(target);
  const sets = [{ ...NOTES, loaded: [null] }];
  const pull = { ...from, cursor: 1, sets, refetch: [], settled: 0, maxBytes: 4 * 1024 * 1024 };
  const senders = range(8).map(() => ({ secret }));
  return keepSending(target, senders, JSON.stringify(pull), '/sync/pull');
};

/** Eight devices whose writes each take some milliseconds to execute. */
const pushes: Attack = async (target) => {
  const elements = {
    reduce: { lambda: ['a', 'x'], expr: { append: { var: 'a' }, collection: { var: 'a' } } },
    initial: [1],
    collection: range(12),
  };
  const query = JSON.stringify({
    count: { map: { lambda: 'i', expr: { add: [{ var: 'i' }, 1] } }, collection: elements },
  });
  const statuses: Record<string, number> = {};
  const pushing = range(8).map(async (n) => {
    const id = (Date.now() * 16 + n).toString(16).padStart(32, '0');
    const { secret, device, epoch } = await deviceAt(target, id);
    for (let first = 1; !target.signal.aborted; first += SYNC_LIMITS.pushItems) {
      const items = range(SYNC_LIMITS.pushItems).map((i) => {
        const item = {
          seq: first + i,
          query,
          apiVersion: '4' as const,
          now: Date.now() * 1000,
          ids: [],
        };
        return {
          ...item,
          hash: hashOf(item, (bytes) => createHash('sha256').update(bytes).digest()),
        };
      });
      const body = JSON.stringify({ device, epoch, items, settled: first - 1 });
      const { status } = await send(target.port, { secret, body, path: '/sync/push' }).catch(
        () => ({ status: 0 }),
      );
      count(statuses, status);
    }
  });
  await Promise.all(pushing);
  return statuses;
};

export const CONNECTIONS: Readonly<Record<string, Attack>> = {
  ...Object.fromEntries(
    Object.entries(LONG_BODIES).map(([name, { path, body }]): [string, Attack] => [
      name,
      (target) => {
        const senders = range(4).map(() => ({ secret: target.credentials.attacker }));
        return keepSending(target, senders, body, path);
      },
    ]),
  ),
  'bodies of 8 MiB that never end, without a secret': (target) => {
    const part = Buffer.alloc(EIGHT_MIB - 16, ' ');
    const head = `POST / ${HEAD}content-length: ${EIGHT_MIB}\r\n\r\n`;
    return keepDialling(target, 8, () => Buffer.concat([Buffer.from(head), part]));
  },
  'bodies of 8 MiB that never end, with a token': (target) => {
    const part = Buffer.alloc(EIGHT_MIB - 16, ' ');
    const head = `POST / ${HEAD}authorization: Bearer ${target.credentials.attacker}\r\ncontent-length: ${EIGHT_MIB}\r\n\r\n`;
    return keepDialling(target, 8, () => Buffer.concat([Buffer.from(head), part]));
  },
  'bodies in chunks of one byte that never end, without a secret': (target) => {
    const head = `POST / ${HEAD}transfer-encoding: chunked\r\n\r\n`;
    const text = head + '1\r\n \r\n'.repeat(HUB_LIMITS.smallBodyBytes - 1);
    return keepDialling(target, 8, () => text);
  },
  'bodies in frames of one byte that never end, over HTTP/2': async ({
    port,
    credentials,
    signal,
  }) => {
    let [sessions, frames] = [0, 0];
    while (!signal.aborted) {
      const session = openSession(port);
      sessions += 1;
      session.on('error', () => undefined);
      const authorization = `Bearer ${credentials.attacker}`;
      const streams = range(8).map(() =>
        session.request({ ':method': 'POST', ':path': '/', authorization }),
      );
      for (const stream of streams) stream.on('error', () => undefined);
      while (!session.destroyed && !signal.aborted) {
        for (const stream of streams) for (let n = 0; n < 1000; n += 1) stream.write(' ');
        frames += streams.length * 1000;
        await new Promise((resolve) => setImmediate(resolve));
      }
      session.destroy();
    }
    return { sessions, frames };
  },
  'sets of a device that are compared again and again': checks,
  'sets of a device that are loaded again and again': loads,
  'sets of a device that are brought up to date again and again': catchesUp,
  'pushes of writes that take some ms each, by eight devices': pushes,
  'requests beyond the rate of their address, by 40 at a time': (target) => {
    const senders = range(40).map(() => ({ secret: target.credentials.clientKey }));
    return keepSending(target, senders, '1');
  },
  'answers that are never read': (target) => {
    const { attacker } = target.credentials;
    const body = JSON.stringify({
      let: { s: longText(20) },
      in: range(14).map(() => ({ var: 's' })),
    });
    const head = `POST / ${HEAD}authorization: Bearer ${attacker}\r\nx-faunadb-api-version: 4\r\ncontent-length: ${body.length}\r\n\r\n`;
    return keepDialling(target, 16, () => head + body, false);
  },
  'live queries that take long, 25 over each of 120 connections': (target) => {
    const sets = range(30).map(() => ({ match: { index: 'notes_all' } }));
    const queries = range(25).map((i) => [i, { count: { union: sets } }]);
    return keepDialling(target, 120, () => liveRequest(target, queries));
  },
  'live queries whose answers are never read, 25 over each of 120 connections': (target) => {
    const queries = range(25).map((i) => ({
      let: { s: longText(20) },
      in: [i, ...range(14).map(() => ({ var: 's' }))],
    }));
    return keepDialling(target, 120, () => liveRequest(target, queries), false);
  },
  'logins with the public key, 110 at a time on one HTTP/2 connection': async ({
    port,
    credentials,
    signal,
  }) => {
    const statuses: Record<string, number> = {};
    while (!signal.aborted) {
      const session = openSession(port);
      session.on('error', () => undefined);
      const stop = (): void => session.destroy();
      signal.addEventListener('abort', stop, { once: true });
      await Promise.all(
        range(110).map(
          () =>
            new Promise<void>((resolve) => {
              const stream = session.request({
                ':method': 'POST',
                ':path': '/',
                authorization: `Bearer ${credentials.clientKey}`,
                'x-faunadb-api-version': '4',
              });
              stream.on('response', (headers) => count(statuses, headers[':status'] ?? 0));
              stream.on('error', () => undefined).on('close', resolve);
              stream.resume().end(login);
            }),
        ),
      );
      signal.removeEventListener('abort', stop);
      session.destroy();
    }
    return statuses;
  },
  '20,000 requests on one connection': (target) =>
    keepDialling(target, 4, () => `GET /ping ${HEAD}\r\n`.repeat(20_000)),
  'requests on each of 120 connections that were used before': async (target) => {
    const [ping, pings] = [`GET /ping ${HEAD}\r\n`, `GET /ping ${HEAD}\r\n`.repeat(2_000)];
    let [sockets, answers] = [0, 0];
    while (!target.signal.aborted) {
      const dialled = range(120).map(() => dial(target, ping, true, pings));
      for (const each of await Promise.all(dialled)) answers += each;
      sockets += dialled.length;
    }
    return { sockets, answers };
  },
  '5,000 offers to go over to HTTP/2': (target) =>
    keepDialling(target, 4, () =>
      `GET /ping ${HEAD}connection: upgrade\r\nupgrade: h2c\r\n\r\n`.repeat(5_000),
    ),
  'streams of HTTP/2 that are reset, 500 at a time': async ({ port, credentials, signal }) => {
    let [sessions, streams] = [0, 0];
    while (!signal.aborted) {
      const session = openSession(port);
      sessions += 1;
      session.on('error', () => undefined);
      await new Promise((resolve) => session.once('connect', resolve).once('close', resolve));
      while (!session.destroyed && !signal.aborted) {
        const opened = range(500).map(() =>
          session.request({ ':path': '/ping', authorization: `Bearer ${credentials.clientKey}` }),
        );
        streams += opened.length;
        for (const stream of opened) stream.on('error', () => undefined);
        await new Promise((resolve) => setImmediate(resolve));
        for (const stream of opened) stream.close(8);
        await new Promise((resolve) => setImmediate(resolve));
      }
      session.destroy();
    }
    return { sessions, streams };
  },
  'bodies of 8 MB with a wrong secret': (target) =>
    keepSending(
      target,
      range(5).map(() => ({ secret: 'no secret at all' })),
      Buffer.alloc(8_000_000, ' '),
    ),
};
