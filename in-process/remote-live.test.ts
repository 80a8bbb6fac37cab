/** Live queries of scripts: they receive the same values as in a page, in the same order, over streams that break. */
import { createServer, type Server } from 'node:http';
import { connect as dial, type Socket } from 'node:net';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLiveRoute } from '../hub/live/live-route.ts';
import { DEFAULT_SETTINGS } from '../hub/settings/settings.ts';
import { openTestHub, type TestHub } from '../hub/testing/test-hub.ts';
import { queriesOf } from '../src/hooks/core/shared-queries.ts';
import { BurrowProvider, useQuery } from '../src/hooks/react.ts';
import { DatabaseClosed, q, Unauthorized, type BurrowError, type Client } from '../src/index.ts';
import { connect, type RemoteDatabase } from './remote.ts';

const notes = q.Collection('notes');
const count = q.Count(q.Documents(notes));
const add = () => q.Create(notes, { data: {} });

let hub: TestHub;
let remote: RemoteDatabase;
/** The network between script and hub, which can be cut. */
let network: CutNetwork;

beforeEach(async () => {
  hub = await openTestHub({
    settings: { metrics: 'open' },
    routes: (opened) => [createLiveRoute(opened, DEFAULT_SETTINGS)],
  });
  network = await CutNetwork.open(hub.port);
  remote = await connect({ url: network.url, secret: hub.secret });
  await remote.client().query(q.CreateCollection({ name: 'notes' }));
});
afterEach(async () => {
  await remote.close();
  await network.close();
});

class CutNetwork {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  isCut = false;
  url = '';

  private constructor(port: number) {
    this.server = createServer();
    this.server.removeAllListeners('connection');
    this.server.on('connection', (near: Socket) => {
      if (this.isCut) {
        near.destroy();
        return;
      }
      const far = dial(port, '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(one);
        one
          .on('error', () => undefined)
          .on('close', () => {
            this.sockets.delete(one);
            other.destroy();
          });
      }
      near.pipe(far).pipe(near);
    });
  }

  static async open(port: number): Promise<CutNetwork> {
    const network = new CutNetwork(port);
    await new Promise<void>((resolve) => network.server.listen(0, '127.0.0.1', resolve));
    const address = network.server.address();
    network.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    return network;
  }

  /** Breaks the open connections. */
  break(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  close(): Promise<unknown> {
    this.break();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

/** Records everything that an observer receives. */
function follow(client: Client, query = count) {
  const received: unknown[] = [];
  const closed: BurrowError[] = [];
  const stop = client.subscribe(query, {
    next: (value) => received.push(value),
    error: (error) => received.push(error),
    closed: (error) => closed.push(error),
  });
  return { received, closed, stop };
}

const metric = async (name: string): Promise<number> =>
  Number(
    new RegExp(`^burrow_${name} (\\d+)`, 'm').exec(
      await (await fetch(`${hub.url}/metrics`)).text(),
    )?.[1],
  );

test('a live query receives its value and each later value in order', async () => {
  const client = remote.client();
  const { received, stop } = follow(client);
  await expect.poll(() => received).toEqual([0]);
  await client.query(add());
  await expect.poll(() => received).toEqual([0, 1]);
  await client.query(q.CreateCollection({ name: 'others' }));
  await client.query(add());
  await expect.poll(() => received).toEqual([0, 1, 2]);
  stop();
  await expect.poll(() => metric('live_queries')).toBe(0);
});

test('many live queries share at most two streams, in whatever order they start and stop', async () => {
  const client = remote.client();
  const followed: ReturnType<typeof follow>[] = [];
  for (let i = 0; i < 12; i++) {
    const one = follow(client, q.Add(count, i));
    followed.push(one);
    await expect.poll(() => one.received).toEqual([i]);
  }
  expect(await metric('streams')).toBeLessThanOrEqual(2);
  for (const { stop } of followed.splice(0, 8)) stop();
  await client.query(add());
  await expect.poll(() => followed.map(({ received }) => received.at(-1))).toEqual([9, 10, 11, 12]);
  expect(followed.map(({ received }) => received.length)).toEqual([2, 2, 2, 2]);
  await expect.poll(() => metric('live_queries')).toBeLessThanOrEqual(8);
});

test('after a broken stream a live query continues without repeating a value', async () => {
  const client = remote.client();
  const { received } = follow(client);
  const { received: other } = follow(client, q.Add(1, 1));
  await expect.poll(() => [received.length, other.length]).toEqual([1, 1]);
  network.break();
  await hub.query({ create: { collection: 'notes' } });
  await expect.poll(() => received).toEqual([0, 1]);
  await client.query(add());
  await expect.poll(() => received).toEqual([0, 1, 2]);
  expect(other).toEqual([2]);
});

test('an observer gets an error while the hub is unreachable, and the value afterwards', async () => {
  const client = remote.client();
  const { received, closed } = follow(client);
  await expect.poll(() => received).toEqual([0]);
  network.isCut = true;
  network.break();
  await expect.poll(() => received.length).toBe(2);
  expect(received[1]).toMatchObject({ code: 'hub_unreachable', retryable: true });
  network.isCut = false;
  await expect.poll(() => received.at(-1)).toBe(0);
  expect(closed).toEqual([]);
});

test('a live query starts as soon as an unreachable hub can be reached', async () => {
  network.isCut = true;
  network.break();
  const { received } = follow(remote.client());
  await expect.poll(() => received.length).toBe(1);
  expect(received[0]).toMatchObject({ code: 'hub_unreachable', retryable: true });
  network.isCut = false;
  await expect.poll(() => received.at(-1)).toBe(0);
});

test('an unknown or deleted secret is an error and does not end a live query; close() does', async () => {
  const { received: nobody } = follow(remote.client({ secret: 'nobody' }));
  await expect.poll(() => nobody.length).toBe(1);
  expect(nobody[0]).toBeInstanceOf(Unauthorized);
  const key = await remote.client().query(q.CreateKey({ role: 'server' }));
  const { received, closed } = follow(remote.client({ secret: key.secret }));
  await expect.poll(() => received).toEqual([0]);
  await remote.client().query(q.Delete(key.ref));
  await expect.poll(() => received.length).toBe(2);
  expect(received[1]).toBeInstanceOf(Unauthorized);
  expect(closed).toEqual([]);
  await remote.close();
  expect(closed).toEqual([expect.any(DatabaseClosed)]);
  expect(String(closed[0])).not.toContain('openDatabase');
});

test('hooks on a server render the loading state, and share the queries of a script', async () => {
  const client = remote.client();
  const Count = () => createElement('i', null, String(useQuery(count).value ?? 'loading'));
  const app = createElement(
    BurrowProvider,
    { database: () => remote.database },
    createElement(Count),
  );
  expect(renderToString(app)).toBe('<i>loading</i>');
  const shared = queriesOf(client).find(count);
  const stop = shared.subscribe(() => undefined);
  await expect.poll(() => shared.get()).toMatchObject({ value: 0, isLoading: false });
  stop();
});
