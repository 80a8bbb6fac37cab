import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openServer, sharedPostgres } from '../testing/hub-stores.ts';
import type { PgDatabase } from './pg-database.ts';

/** A message of the protocol: its kind, its length including the length field, and its contents. */
function message(kind: string, text: string): Buffer {
  const body = Buffer.from(text, 'latin1');
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(kind), length, body]);
}

const LET_IN = message('R', '\0\0\0\0');
const READY = message('Z', 'I');
/** Kind and length of the message with the process id, which follows them. */
const PROCESS_HEAD = Buffer.from([0x4b, 0, 0, 0, 12]);
const GOODBYE = message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');

test('connect() rejects, without uncaught errors, if the server greets and ends in one packet', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([LET_IN, READY, GOODBYE])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const database = openServer(`postgres://burrow@127.0.0.1:${port}/postgres`);
  for (let i = 0; i < 3; i++) {
    await expect(database.connect()).rejects.toMatchObject({ isConnectionLoss: true });
  }
  await database.close();
  server.close();
  await once(server, 'close');
});

const sharedServer = sharedPostgres();

test.each(['53300', '57P03'])('listen() retries if the server refuses with %s', async (code) => {
  const { port, url } = await sharedServer();
  let refusals = 0;
  const refused = message('E', `SFATAL\0C${code}\0Mnot now\0\0`);
  const busy = createServer((client) => {
    client.on('error', () => undefined);
    if (refusals < 2) {
      refusals += 1;
      client.once('data', () => client.end(refused));
      return;
    }
    const upstream = connect(port, '127.0.0.1');
    upstream.on('error', () => undefined);
    client.pipe(upstream).pipe(client);
  });
  busy.listen(0, '127.0.0.1');
  await once(busy, 'listening');
  const { port: busyPort } = busy.address() as AddressInfo;
  const database = openServer(url.replace(`:${port}/`, `:${busyPort}/`));
  const received: string[] = [];
  const listener = database.listen('burrow_test', 'a listener', (payload) =>
    received.push(payload),
  );
  await expect.poll(() => listener?.isListening).toBe(true);
  expect(refusals).toBe(2);
  const direct = openServer(url);
  const connection = await direct.connect();
  await connection.run([{ name: '', text: "NOTIFY burrow_test, 'here'", values: [] }]);
  connection.release();
  await expect.poll(() => received).toEqual(['here']);
  listener?.stop();
  await direct.close();
  await database.close();
  busy.close();
});

describe('behind a pooler that greets clients itself', () => {
  /** A proxy to the server that changes the process id of greetings to one that differs from the backend's. */
  async function openPooler(port: number): Promise<{ port: number; close: () => void }> {
    const pooler = createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      let isGreeted = false;
      upstream.on('data', (data: Buffer) => {
        const at = isGreeted ? -1 : data.indexOf(PROCESS_HEAD);
        if (at >= 0) {
          isGreeted = true;
          data.writeInt32BE(
            data.readInt32BE(at + PROCESS_HEAD.length) + 1,
            at + PROCESS_HEAD.length,
          );
        }
        client.write(data);
      });
      client.on('data', (data) => upstream.write(data));
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const)
        one.on('error', () => undefined).on('close', () => other.destroy());
    });
    pooler.listen(0, '127.0.0.1');
    await once(pooler, 'listening');
    return { port: (pooler.address() as AddressInfo).port, close: () => void pooler.close() };
  }

  /** Shows the state of a session: its number of prepared statements, and one of the hub's settings. */
  async function sessionOf(database: PgDatabase): Promise<readonly (string | null)[]> {
    const connection = await database.connect();
    const text = "SELECT count(*), current_setting('enable_seqscan') FROM pg_prepared_statements";
    const [, found] = await connection.run([
      { name: 'prepared', text: 'SELECT 1', values: [] },
      { name: '', text, values: [] },
    ]);
    connection.release();
    return found?.rows[0] ?? [];
  }

  test('statements have no names, sessions have no settings, and listen() does nothing', async () => {
    const { port, url } = await sharedServer();
    const direct = openServer(url);
    expect(await sessionOf(direct)).toEqual(['1', 'off']);
    const listener = direct.listen('burrow_test', 'a listener', () => undefined);
    await expect.poll(() => listener?.isListening).toBe(true);
    listener?.stop();
    await direct.close();

    const pooler = await openPooler(port);
    const pooled = openServer(url.replace(`:${port}/`, `:${pooler.port}/`));
    expect(await sessionOf(pooled)).toEqual(['0', 'on']);
    const deaf = pooled.listen('burrow_test', 'a listener', () => undefined);
    const listening = 'SELECT count(*) FROM pg_stat_activity WHERE application_name = $1';
    const connection = await pooled.connect();
    const count = async (): Promise<unknown> => {
      const [found] = await connection.run([{ name: '', text: listening, values: ['a listener'] }]);
      return found?.rows[0]?.[0];
    };
    await expect.poll(count).toBe('0');
    expect(deaf?.isListening).toBe(false);
    deaf?.stop();
    connection.release();
    await pooled.close();
    pooler.close();
  });
});
