/** A hub and raw connections to it, for tests of requests that no regular client sends. Everything is closed after each test. */
import { connect, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { openTestHub, type TestHub, type TestHubOptions } from './test-hub.ts';

let hub: TestHub | undefined;
export const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await closeHub();
});

export async function open(options?: TestHubOptions): Promise<TestHub> {
  hub = await openTestHub(options);
  return hub;
}

export async function closeHub(): Promise<void> {
  await hub?.close();
  hub = undefined;
}

/** Opens a raw connection and collects what it receives as text. */
export function dial(
  port: number,
  text = '',
  localAddress = '127.0.0.1',
): { readonly socket: Socket; readonly received: () => string } {
  let received = '';
  const socket = connect({ port, host: '127.0.0.1', localAddress })
    .on('error', () => undefined)
    .on('data', (part) => (received += String(part)));
  sockets.push(socket);
  if (text !== '') socket.write(text);
  return { socket, received: () => received };
}
