/** Raw connections, for tests of requests that no regular client sends. They are closed after each test. */
import { connect, type Socket } from 'node:net';
import { afterEach } from 'vitest';

export const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

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
