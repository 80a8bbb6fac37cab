/** Connections of an address that misused others. Limits by number are tested in http/abuse.test.ts. */
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConnectionPlaces } from './connection-places.ts';

let isBarred = false;
let server: Server;
let places: ConnectionPlaces;
const clients: Socket[] = [];
const served: Socket[] = [];

/** @param connectionWaitMs by default, for longer than the test */
async function open(connectionWaitMs = 60_000): Promise<void> {
  places = new ConnectionPlaces({
    settings: { sockets: 10, socketsPerAddress: 5, connectionWaitMs, slowReaderMs: 60_000 },
    peerOf: () => ({ address: '192.0.2.1', isTrusted: false }),
    isBarred: () => isBarred,
    serve: (socket) => void served.push(socket.on('error', () => undefined)),
    onRefused: () => undefined,
    isSecure: false,
  });
  server = createServer({ pauseOnConnect: true }, (socket) => places.arrive(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

function dial(): Socket {
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  clients.push(client);
  return client;
}

/** One connection is served; then the address is barred, so the second one waits. */
async function openWithOneServedAndOneWaiting(): Promise<void> {
  await open();
  dial();
  await expect.poll(() => served.length).toBe(1);
  isBarred = true;
  dial();
  await expect.poll(() => places.count).toBe(2);
}

beforeEach(() => {
  isBarred = false;
});
afterEach(() => {
  server.close();
  places.drain();
  for (const socket of [...clients.splice(0), ...served.splice(0)]) socket.destroy();
});

test('connections of a barred address wait, and are served when it is barred no longer', async () => {
  await open();
  isBarred = true;
  dial();
  dial();
  await expect.poll(() => places.count).toBe(2);
  expect(served).toEqual([]);
  isBarred = false;
  await expect.poll(() => served.length).toBe(2);
  expect(places.count).toBe(2);
});

test('while an address is barred, its waiting connections are not served when one of its others ends', async () => {
  await openWithOneServedAndOneWaiting();
  served[0]?.destroy();
  await expect.poll(() => places.count).toBe(1);
  expect(served).toHaveLength(1);
});

test('a connection of a barred address gets a response when it has waited too long', async () => {
  await open(1);
  isBarred = true;
  const received: string[] = [];
  const client = dial().on('data', (part) => received.push(String(part)));
  await once(client, 'close');
  expect(received.join('')).toMatch(/^HTTP\/1\.1 429 /);
  expect(served).toEqual([]);
});

test('as many connections of a barred address wait as it may have, and no more', async () => {
  await open();
  isBarred = true;
  for (let n = 0; n < 5; n += 1) dial();
  await expect.poll(() => places.count).toBe(5);
  await new Promise((resolve) => dial().on('close', resolve));
  expect(places.count).toBe(5);
});

test('while an address is barred, its other connections are not closed for those that wait', async () => {
  await openWithOneServedAndOneWaiting();
  const setHeader = vi.fn<(name: string, value: string) => void>();
  const response = Object.assign(new EventEmitter(), { headersSent: false, setHeader });
  places.requested(served[0] as Socket, '192.0.2.1', response as unknown as ServerResponse);
  expect(setHeader).not.toHaveBeenCalled();
  isBarred = false;
  places.requested(served[0] as Socket, '192.0.2.1', response as unknown as ServerResponse);
  expect(setHeader).toHaveBeenCalledWith('connection', 'close');
});
