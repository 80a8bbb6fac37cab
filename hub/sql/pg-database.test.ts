import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openServer } from '../testing/hub-stores.ts';

/** A message of the wire: its kind, its length with itself, what it says. */
function message(kind: string, text: string): Buffer {
  const body = Buffer.from(text, 'latin1');
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(kind), length, body]);
}

const LET_IN = message('R', '\0\0\0\0');
const READY = message('Z', 'I');
const GOODBYE = message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');

test('connect() is refused by a server that greets and says goodbye in one packet, and nothing else happens', async () => {
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
